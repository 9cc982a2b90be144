// What a jump over N frames costs, by itself: prints ns per jump.
#include "unit.h"
#include <setjmp.h>
#include <time.h>
static jmp_buf buffer;
static volatile int bottom = 0;
NOINLINE int down(int n) {
    if (n == bottom) longjmp(buffer, 1);
    return down(n - 1) + 1;
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main(int argc, char **argv) {
    int frames = argc > 1 ? atoi(argv[1]) : 10, times = argc > 2 ? atoi(argv[2]) : 200000;
    double t = now();
    for (volatile int i = 0; i < times; i++)
        if (!setjmp(buffer)) down(frames);
    printf("longjmp over %d frames: %.0f ns\n", frames, (now() - t) / times);
    return 0;
}
