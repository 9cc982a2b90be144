// exit() under a million frames.
#include "unit.h"
static volatile int bottom = 0;
NOINLINE long down(long n) {
    if (n == bottom) { SITE("bottom"); exit(0); }
    return down(n - 1) + 1;
}
int main(int argc, char **argv) { BUMP(0); return down(argc > 1 ? atol(argv[1]) : 1000000) == 3; }
