// A handler jumps out of a loop that calls nothing.
#include "unit.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
static sigjmp_buf back;
static void handler(int s) { siglongjmp(back, 1); }
NOINLINE void spin(void) { for (volatile unsigned long i = 0;; i++) {} }
int main(void) {
    signal(SIGALRM, handler);
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    if (sigsetjmp(back, 1) == 0) { setitimer(ITIMER_REAL, &soon, 0); spin(); }
    return 0;
}
