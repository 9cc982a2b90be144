// Jumps to frames that have grown since the call of setjmp, in the first thread and in another one.
#include "unit.h"
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
static __thread jmp_buf back;
static volatile char sink;
NOINLINE void leave(void) { SITE("below"); BUMP(1); longjmp(back, 1); }
NOINLINE void below(void) { leave(); BUMP(9); }
NOINLINE void grows(volatile int size) {
    if (setjmp(back) == 0) {
        volatile char *room = alloca((size_t)size);
        room[0] = 1;
        below();
        sink = room[0];
    } else BUMP(2);
}
static void *work(void *nothing) {
    for (int i = 0; i < 3; i++) grows(40), grows(4000), grows(40000);
    return nothing;
}
int main(void) {
    work(0);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
