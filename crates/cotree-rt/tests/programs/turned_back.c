// Jumps out of handlers on the same stack, from some calls deep: whoever walks it has passed ordinary frames when he meets the
// signal's. In the first thread and in another one.
#define _GNU_SOURCE
#include "unit.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
static sigjmp_buf back;
NOINLINE void last(void) { SITE("inner"); BUMP(3); siglongjmp(back, 1); }
NOINLINE void inner(void) { SITE("handler"); last(); BUMP(9); }
NOINLINE void handler(int s) { (void)s; inner(); BUMP(9); }
NOINLINE void outer(void) { SITE("work"); raise(SIGUSR1); BUMP(9); }
static void *work(void *nothing) {
    for (volatile int i = 0; i < 5; i++)
        if (sigsetjmp(back, 1) == 0) outer();
        else BUMP(1);
    return nothing;
}
int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    work(0);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
