// pthread_exit and cancellation through frames with cleanups.
#include "unit.h"
#include <pthread.h>
static pthread_barrier_t ready;
struct Cleanup { NOINLINE ~Cleanup() { BUMP(5); } };
NOINLINE void leave(bool wait) {
    BUMP(3);
    if (wait) { pthread_barrier_wait(&ready); for (;;) pause(); }
    SITE("leave");
    pthread_exit(0);
}
NOINLINE void deep(bool wait) { SITE("deep"); BUMP(2); Cleanup c; leave(wait); BUMP(4); }
NOINLINE void *bottom(void *p) { SITE("bottom"); BUMP(1); deep(p != 0); BUMP(4); return p; }
int main() {
    pthread_t t;
    pthread_create(&t, 0, bottom, 0);
    pthread_join(t, 0);
    pthread_barrier_init(&ready, 0, 2);
    pthread_create(&t, 0, bottom, &t);
    pthread_barrier_wait(&ready);
    pthread_cancel(t);
    pthread_join(t, 0);
    BUMP(0);
}
