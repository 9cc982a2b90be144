// fork from threads while others run; the children start threads again.
#include "unit.h"
#include <pthread.h>
#include <sys/wait.h>
static void *work(void *p) { BUMP(3); return p; }
NOINLINE void forker(void) {
    SITE("forker");
    pid_t p = fork();
    if (p == 0) {
        for (int i = 0; i < 1000; i++) BUMP(2);
        pthread_t t[10];
        for (int i = 0; i < 10; i++) pthread_create(&t[i], 0, work, 0);
        for (int i = 0; i < 10; i++) pthread_join(t[i], 0);
        exit(0);
    }
    int s;
    if (waitpid(p, &s, 0) != p || s) abort();
    BUMP(1);
}
static void *start(void *p) { forker(); return p; }
int main(void) {
    pthread_t t[4];
    BUMP(0);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, start, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
