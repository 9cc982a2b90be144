/* The same as jump_interrupted.c with setcontext, which restores the mask as well. */
#include "tally.h"
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
static ucontext_t first;
static volatile int left;
static sigjmp_buf second;
static volatile int rounds;
static void handler(int number) {
    T(1);
    (void)number;
    if (rounds > 10) {
        T(2);
        exit(7);
    }
    if (rounds % 3 == 0) {
        T(3);
        return;
    }
    T(4);
    siglongjmp(second, 1);
}
static int leave(int depth) {
    T(5);
    if (depth > 0) {
        T(6);
        int result = leave(depth - 1) + 1;
        T(7);
        return result;
    }
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    T(8);
    left = 1;
    setcontext(&first);
    return 0;
}
static int attempt(void) {
    T(9);
    left = 0;
    getcontext(&first);
    if (left) {
        T(10);
        return 1;
    }
    T(11);
    int result = leave(rounds % 20);
    T(12);
    return result;
}
int main(void) {
    signal(SIGUSR1, handler);
    for (;;) {
        T(13);
        if (sigsetjmp(second, 1)) {
            T(14);
            rounds++;
            continue;
        }
        T(15);
        rounds += attempt();
        T(16);
    }
}
