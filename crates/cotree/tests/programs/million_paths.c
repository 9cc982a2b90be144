// One function with 2^20 ways through it, each taken once, and one in 16 of them a second time.
#include <stdio.h>

static volatile unsigned taken[20];

#define WAY(k) if (bits >> k & 1) taken[k]++

__attribute__((noinline)) static void walk(unsigned bits) {
    WAY(0);
    WAY(1);
    WAY(2);
    WAY(3);
    WAY(4);
    WAY(5);
    WAY(6);
    WAY(7);
    WAY(8);
    WAY(9);
    WAY(10);
    WAY(11);
    WAY(12);
    WAY(13);
    WAY(14);
    WAY(15);
    WAY(16);
    WAY(17);
    WAY(18);
    WAY(19);
}

int main(void) {
    for (unsigned bits = 0; bits < 1u << 20; bits++) walk(bits);
    for (unsigned bits = 0; bits < 1u << 20; bits += 16) walk(bits);
    unsigned long sum = 0;
    for (int k = 0; k < 20; k++) sum += taken[k];
    printf("%lu\n", sum);
    return 0;
}
