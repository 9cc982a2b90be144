// Threads of all kinds are alive when main returns; none of them may notice.
#include "unit.h"
#include "asleep.h"
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t ready;
NOINLINE void wait_for_work(void) {
    SITE("wait");
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&mutex);
    for (;;) pthread_cond_wait(&never, &mutex);
}
static void *pool(void *p) { BUMP(1); wait_for_work(); BUMP(9); return p; }
NOINLINE void read_input(void) {
    SITE("read");
    pthread_barrier_wait(&ready);
    if (getchar() != EOF || errno) printf("noticed %d\n", errno);
}
static void *reader(void *p) { read_input(); return p; }
NOINLINE void sleep_on(void) {
    SITE("sleep");
    pthread_barrier_wait(&ready);
    if (usleep(100000000)) printf("noticed %d\n", errno);
}
static void *sleeper(void *p) { sleep_on(); return p; }
static void *spinner(void *p) {
    pthread_barrier_wait(&ready);
    for (volatile unsigned long i = 0;; i++) {}
    return p;
}
int main(int argc, char **argv) {
    pthread_t t;
    int silent[2];
    if (pipe(silent) || dup2(silent[0], 0)) return 1;
    pthread_barrier_init(&ready, 0, 7 + (argc > 1));
    for (int i = 0; i < 4; i++) pthread_create(&t, 0, pool, 0);
    pthread_create(&t, 0, reader, 0);
    pthread_create(&t, 0, sleeper, 0);
    if (argc > 1) pthread_create(&t, 0, spinner, 0);
    pthread_barrier_wait(&ready);
    until_asleep(6);
    printf("done\n");
    return 0;
}
