#include <stdlib.h>
#include <stdio.h>
/* Values that are cheap to evaluate: clang makes no branch for them, and adds the condition to its counter. */
static int sign(int x) { return x < 0 ? -1 : x > 0 ? 1 : 0; }
static long all(int x, int y) {
    int s = x ? y : 3;
    s += (x & 1 ? y : x) + (y ? 4 : 5);
    return 1 ? s : x;
}
#define EITHER(a, b) ((a) || (b) ? (a) : (b))
static int loops(int n) {
    int t = 0;
    do {
        t += EITHER(n, 7) ? 1 : 2;
    } while (n-- > 0 && (t < 9 ? t != 4 : n != 2));
    return t;
}
static int jumps(int n) {
    void *to[] = {&&first, &&second};
    int t = 0;
    goto *to[n & 1];
first:
    t += n > 2 ? 3 : 1;
second:
    t += n > 3 ? 4 : 2;
    return t;
}
static void *buffer[5];
/* The jump is the first thing behind its counter. */
__attribute__((noinline)) static void leave(int n) {
    if (n > 2) __builtin_longjmp(buffer, 1);
}
__attribute__((noinline)) static int comes_back(int n) {
    if (__builtin_setjmp(buffer)) return 1;
    leave(n);
    return 0;
}
int main(void) {
    long sum = 0;
    for (int i = -3; i < 6; i++) sum += sign(i) + all(i, i * 2) + loops(i) + jumps(i < 0 ? -i : i) + comes_back(i);
    printf("%ld\n", sum);
    exit(sum ? 0 : 1);
}
