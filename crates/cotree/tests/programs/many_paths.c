/* More paths than there are 64-bit numbers; a hundred thousand of them executed; activations that end in the middle of one. */
#include "tally.h"
#include <setjmp.h>
static jmp_buf out;
static unsigned long sum;
static volatile int never;
__attribute__((noinline)) static void leave(int how) {
    T(1);
    if (how == 1) {
        T(2);
        longjmp(out, 1);
    }
    if (how == 2) {
        T(3);
        exit(5);
    }
    T(4);
}
#define IF(k)                                                                                                          \
    if (bits >> ((k) % 60) & 1) {                                                                                      \
        sum += (k) * (sum | 1);                                                                                        \
        if (never) sum = 0;                                                                                            \
    }
#define IF8(k) IF(k) IF(k + 1) IF(k + 2) IF(k + 3) IF(k + 4) IF(k + 5) IF(k + 6) IF(k + 7)
/* 3 to the power of 80 paths. */
__attribute__((noinline)) static unsigned long wide(unsigned long bits, int how) {
    T(5);
    IF8(0) IF8(8) IF8(16) IF8(24) IF8(32)
    leave(how);
    IF8(40) IF8(48)
    if (bits % 3 == 0) {
        T(6);
        leave(0);
    }
    IF8(56) IF8(64) IF8(72)
    T(7);
    return sum;
}
__attribute__((noinline)) static void each(unsigned long bits) {
    T(8);
    IF8(0) IF8(8)
    IF(16)
    T(9);
}
static unsigned long next(unsigned long s) { return s * 6364136223846793005ul + 1442695040888963407ul; }
int main(void) {
    unsigned long s = 1;
    for (unsigned long i = 0; i < 1ul << 17; i++) {
        T(10);
        each(i);
    }
    for (int i = 0; i < 3000; i++) {
        T(11);
        s = next(s);
        if (setjmp(out) == 0) {
            T(12);
            wide(s ^ s >> 31, i % 7 == 3);
        } else {
            T(13);
        }
    }
    T(14);
    wide(s, 2);
    T(15);
    return 0;
}
