// Threads are interrupted by handlers that run on alternate stacks and count with them.
#include "unit.h"
#include <pthread.h>
#include <signal.h>
static void handler(int s) {
    ENTERED();
    BUMP(2);
}
static void *work(void *p) {
    ENTERED();
    static __thread char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    if (sigaltstack(&alternate, 0)) abort();
    for (int i = 0; i < 20000; i++) {
        BUMP(1);
        if (i % 20 == 0) pthread_kill(pthread_self(), SIGUSR1);
    }
    return p;
}
int main(void) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    BUMP(0);
    return 0;
}
