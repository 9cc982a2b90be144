// Contexts: one on this stack is a jump, one on another stack can't be followed.
#include "unit.h"
#include <ucontext.h>
static ucontext_t here, there, back;
static volatile int times = 0;
static void other(void) { BUMP(2); times++; setcontext(&back); }
int main(void) {
    getcontext(&here);
    if (times++ < 3) { BUMP(1); setcontext(&here); }
    getcontext(&there);
    there.uc_stack.ss_sp = malloc(65536);
    there.uc_stack.ss_size = 65536;
    makecontext(&there, other, 0);
    swapcontext(&back, &there);
    return 0;
}
