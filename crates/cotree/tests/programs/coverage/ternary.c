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
    t += n > 2 ? 3 : n;
second:
    t += n > 3 ? 4 : n;
    return t;
}
int main(void) {
    long sum = 0;
    for (int i = -3; i < 6; i++) sum += sign(i) + all(i, i * 2) + loops(i) + jumps(i < 0 ? -i : i);
    printf("%ld\n", sum);
    exit(sum ? 0 : 1);
}
