// longjmp over frames, three times, then to a frame of its own function, then out of a signal handler on its own stack.
#define _GNU_SOURCE
#include "unit.h"
#include <setjmp.h>
#include <signal.h>
static jmp_buf buffer;
static int volatile zero = 0;
static unsigned long address_of_setjmp(jmp_buf b) {
    unsigned long guard, pc = ((unsigned long *)b)[7];
    __asm__("mov %%fs:0x30, %0" : "=r"(guard));
    return LINKED(((pc >> 17) | (pc << 47)) ^ guard);
}
NOINLINE void thrower(int n) { SITE("thrower"); BUMP(3); longjmp(buffer, n); }
NOINLINE void middle(int n) { SITE("middle"); BUMP(2); thrower(n); BUMP(9); }
NOINLINE void outer(int n) { SITE("outer"); BUMP(1); if (!zero) middle(n); BUMP(9); }
static sigjmp_buf from_signal;
NOINLINE void handler(int s) { BUMP(4); siglongjmp(from_signal, s); }
int main(void) {
    for (int i = 1; i <= 3; i++) {
        volatile int kept = i;
        if (setjmp(buffer) == 0) outer(kept);
        else BUMP(5);
        if (i == 1) printf("site setjmp %lu\n", address_of_setjmp(buffer)), fflush(stdout);
    }
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    if (sigsetjmp(from_signal, 1) == 0) raise(SIGUSR1);
    else BUMP(6);
    printf("site sigsetjmp %lu\n", address_of_setjmp((void *)from_signal));
    return 0;
}
