// New threads have the signal mask that they would have had.
#define _GNU_SOURCE
#include "unit.h"
#include <pthread.h>
#include <signal.h>
static void *show(void *p) {
    sigset_t s;
    pthread_sigmask(SIG_BLOCK, 0, &s);
    for (int i = 1; i < 65; i++) putchar('0' + (sigismember(&s, i) == 1));
    putchar('\n');
    return p;
}
static void run(pthread_attr_t *a) { pthread_t t; pthread_create(&t, a, show, 0); pthread_join(t, 0); }
int main(void) {
    pthread_attr_t a;
    sigset_t s;
    show(0);
    run(0);
    pthread_attr_init(&a);
    run(&a);
    sigemptyset(&s);
    sigaddset(&s, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &s, 0);
    run(&a);
    sigfillset(&s);
    pthread_attr_setsigmask_np(&a, &s);
    run(&a);
    show(0);
    return 0;
}
