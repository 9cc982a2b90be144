// Loops of constant and of variable numbers of turns, of which each line is known to have run so and so often.
#include <stdio.h>
#include <stdlib.h>
#define NOINLINE __attribute__((noinline)) static
NOINLINE long any(const int *v, int n) {
    long t = 0;
    for (int i = 0; i < n; i++)
        t += v[i] > 5 ? 2 : 1; // 1000
    return t;
}
NOINLINE int four(const int *v) {
    int t = 0;
    for (int i = 0; i < 4; i++)
        t += v[i] * v[i]; // 3600
    return t;
}
NOINLINE int asked(const int *v) {
    int t = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        t += v[i] * v[i]; // 7200
    return t;
}
NOINLINE int asked_by_number(const int *v) {
    int t = 0;
#pragma clang loop unroll_count(8)
    for (int i = 0; i < 8; i++)
        t += v[i] ^ 3; // 7200
    return t;
}
NOINLINE int asked_in_full(const int *v) {
    int t = 0;
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++)
        t += v[i] | 3; // 14400
    return t;
}
NOINLINE int vector(const int *v, int n) {
    int t = 0;
#pragma clang loop vectorize(enable) interleave_count(2)
    for (int i = 0; i < n; i++)
        t += v[i]; // 1000
    return t;
}
NOINLINE int first_differs(const int *v, int n) {
    int t = 0;
    for (int i = 0; i < n; i++) {
        if (i == 0)
            t = v[0] ^ 77;
        else
            t = t * 3 + v[i]; // 999
    }
    return t;
}
NOINLINE int nested(const int *v) {
    int t = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t = t * 5 ^ v[i * 3 + j]; // 8100
    return t;
}
int main(void) {
    int *v = malloc(4000);
    long r = 0;
    for (int i = 0; i < 1000; i++)
        v[i] = i * 7 % 13; // 1000
    r += any(v, 1000) + vector(v, 1000) + first_differs(v, 1000);
    for (int i = 0; i < 900; i++)
        r += four(v + i) + asked(v + i) + asked_by_number(v + i) + asked_in_full(v + i) + nested(v + i); // 900
    printf("%ld\n", r);
    free(v);
    return 0;
}
