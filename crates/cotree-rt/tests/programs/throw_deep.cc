// Exceptions through few, many, and very many frames, in the first thread and in another one.
#include "unit.h"
#include <pthread.h>
static volatile int bottom = 0;
static thread_local const char *caller;
NOINLINE int down(int n) {
    if (n == bottom) { SITE(caller); BUMP(1); throw n; }
    caller = "down";
    return down(n - 1) + 1;
}
NOINLINE void catches(int n) {
    try { caller = "catches"; down(n); BUMP(9); } catch (int) { BUMP(2); }
}
static void *work(void *nothing) {
    const int depths[] = {0, 1, 10, 100, 1000, 10000};
    for (int n : depths) catches(n), catches(n);
    return nothing;
}
int main() {
    work(0);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
