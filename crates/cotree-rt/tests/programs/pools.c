// One of many processes, which has a counter of its own.
#include "unit.h"
NOINLINE void leave(int how) { SITE("leave"); if (how) abort(); exit(0); }
int main(int argc, char **argv) {
    BUMP(atoi(argv[1]));
    BUMP(0);
    if (argc > 3) { if (!fork()) { BUMP(1000); _exit(0); } while (wait(0) > 0) {} }
    leave(argc > 2 && argv[2][0] == 'a');
}
