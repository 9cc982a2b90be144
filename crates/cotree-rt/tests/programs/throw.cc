// Exceptions through frames without handlers and through frames with cleanups.
#include "unit.h"
#include <stdexcept>
static volatile int often = 3;
struct Cleanup { NOINLINE ~Cleanup() { BUMP(4); SITE("marker"); __cotree_resuming(); } };
NOINLINE void thrower() { SITE("thrower"); BUMP(3); throw std::runtime_error("x"); }
NOINLINE void plain() { SITE("plain"); BUMP(2); thrower(); BUMP(9); }
NOINLINE void cleaned() { SITE("cleaned"); BUMP(1); Cleanup c; plain(); BUMP(9); }
NOINLINE void through() { SITE("through"); cleaned(); BUMP(9); }
int main() {
    for (int i = 0; i < often; i++) {
        try { through(); } catch (std::exception &) { BUMP(5); }
    }
    return 0;
}
