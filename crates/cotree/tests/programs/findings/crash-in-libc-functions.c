#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
static char *volatile null;
static volatile int depth;
__attribute__((noinline)) static long sum(int n) { long s = 0; for (int i = 0; i < n; i++) s += i & 3 ? i : depth; return s; }
__attribute__((noinline)) static long fail(int which, int turn) {
    char buffer[64] = "0123456789";
    long s = sum(turn);
    if (turn < 3)
        return s;
    switch (which) {
    case 0: s += strlen(null); break;
    case 1: strcpy(buffer, null); break;
    case 2: s += strcmp(buffer, null); break;
    case 3: memcpy(buffer, null, 8 + depth); break;
    case 4: memset(null, 0, 8 + depth); break;
    case 5: s += strchr(null, 'a') != 0; break;
    case 6: s += atoi(null); break;
    case 7: s += strtol(null, 0, 10); break;
    case 8: s += printf("%s\n", null + 8); break;
    case 9: s += memcmp(buffer, null, 9 + depth); break;
    case 10: free(null + 24); break;
    case 11: s += puts(null); break;
    case 12: qsort(null, 9, 8, (int (*)(const void *, const void *))strcmp); break;
    }
    return s + sum(buffer[0]);
}
int main(int c, char **v) {
    long s = 0;
    for (int i = 0; i < 9; i++)
        s += fail(atoi(v[1]), i);
    printf("%ld\n", s);
    return 0;
}
