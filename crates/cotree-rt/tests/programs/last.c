// main leaves by pthread_exit; the other thread ends the process by returning.
#include "unit.h"
#include <pthread.h>
static pthread_t first;
NOINLINE void leave(void) { SITE("leave"); BUMP(1); pthread_exit(0); }
static void *other(void *p) { pthread_join(first, 0); BUMP(2); return p; }
int main(void) {
    BUMP(0);
    pthread_t t;
    first = pthread_self();
    pthread_create(&t, 0, other, 0);
    leave();
    return 1;
}
