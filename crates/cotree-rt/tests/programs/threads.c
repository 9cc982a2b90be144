// Eight threads at a time, four times: exact sums, slabs reused; ends by return, pthread_exit and cancellation.
#include "unit.h"
#include <pthread.h>
#include <threads.h>
static void *work(void *p) {
    for (int i = 0; i < 100000; i++) BUMP(1);
    return p;
}
static int work11(void *p) { BUMP(2); return *(int *)p; }
NOINLINE void leave(void) { SITE("leave"); BUMP(3); pthread_exit((void *)5); }
NOINLINE void *leaving(void *p) { leave(); BUMP(9); return p; }
static pthread_barrier_t ready;
NOINLINE void sleep_long(void) { SITE("sleep"); for (;;) pause(); }
NOINLINE void *cancelled(void *p) { BUMP(4); pthread_barrier_wait(&ready); sleep_long(); BUMP(9); return p; }
int main(void) {
    for (int round = 0; round < 4; round++) {
        pthread_t t[8];
        for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, work, &t[i]);
        for (int i = 0; i < 8; i++) {
            void *r;
            pthread_join(t[i], &r);
            if (r != &t[i]) return 9;
        }
    }
    thrd_t c;
    int want = 42, got = 0;
    if (thrd_create(&c, work11, &want) != thrd_success || thrd_join(c, &got) != thrd_success || got != 42) return 8;
    pthread_t t;
    void *r;
    pthread_create(&t, 0, leaving, 0);
    pthread_join(t, &r);
    if (r != (void *)5) return 7;
    pthread_barrier_init(&ready, 0, 2);
    pthread_create(&t, 0, cancelled, 0);
    pthread_barrier_wait(&ready);
    pthread_cancel(t);
    pthread_join(t, &r);
    if (r != PTHREAD_CANCELED) return 6;
    BUMP(0);
    return 0;
}
