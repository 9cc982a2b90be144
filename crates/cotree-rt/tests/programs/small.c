// Everything again on the smallest of stacks, with an eye on errno.
#define _GNU_SOURCE
#include "unit.h"
#include "cotree.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
static const char *how;
static jmp_buf buffer;
NOINLINE void jump(void) { longjmp(buffer, 1); }
static void act(void) {
    errno = 77;
    if (*how == 'j') {
        if (!setjmp(buffer)) jump();
    } else if (*how == 'f') {
        pid_t p = fork();
        if (p == 0) _exit(errno != 77);
        int s;
        if (waitpid(p, &s, 0) != p || s) _exit(2);
    } else if (*how == 'd') {
        if (cotree_dump("snapshot.cotree")) _exit(3);
    } else {
        exit(errno != 77);
    }
    if (errno != 77) _exit(4);
}
static void handler(int s) { act(); }
static void *thread(void *p) {
    act();
    // And on a signal stack as small.
    static char memory[8192] __attribute__((aligned(16)));
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory}, old;
    if (sigaltstack(&stack, &old)) _exit(5);
    raise(SIGUSR1);
    sigaltstack(&old, 0);
    return p;
}
int main(int argc, char **argv) {
    how = argv[1];
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    pthread_attr_t a;
    pthread_t t;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN);
    if (pthread_create(&t, &a, thread, 0)) return 6;
    pthread_join(t, 0);
    return 0;
}
