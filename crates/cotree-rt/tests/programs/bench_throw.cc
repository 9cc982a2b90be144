// What an exception through N frames costs: prints ns per throw.
#include "unit.h"
#include <time.h>
static volatile int bottom = 0;
struct Guard { ~Guard() { BUMP(7); } };
NOINLINE int down(int n) {
    if (n == bottom) throw 1;
    return down(n - 1) + 1;
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main(int argc, char **argv) {
    int frames = argc > 1 ? atoi(argv[1]) : 10, times = argc > 2 ? atoi(argv[2]) : 100000;
    double t = now();
    for (int i = 0; i < times; i++)
        try { down(frames); } catch (int) { BUMP(1); }
    printf("throw through %d frames: %.0f ns\n", frames, (now() - t) / times);
    return 0;
}
