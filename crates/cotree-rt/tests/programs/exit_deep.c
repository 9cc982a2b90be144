// exit() deep in a call chain: every frame is abandoned at its call.
#include "unit.h"
#include <errno.h>
static int volatile depth = 5;
NOINLINE void leave(void) { SITE("leave"); BUMP(2); exit(3); }
NOINLINE void down(int n) {
    BUMP(1);
    if (n == depth) SITE("first");
    else if (n == depth - 1) SITE("down");
    if (n > 0) down(n - 1); else leave();
    BUMP(3);
}
int main(void) {
    BUMP(0);
    if (errno != 0) return 77;
    down(depth);
    return 0;
}
