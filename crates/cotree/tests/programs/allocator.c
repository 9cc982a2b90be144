/* Code that runs before and after everything else: an allocator of the program's own, which the loader and libc's
   thread library call too, and a function that is chosen while the program is being relocated. Its threads are
   interrupted by a handler on a stack of its own. */
#define _GNU_SOURCE
#include "tally.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
static char room[64 << 20];
static size_t used;
static int blocks(size_t size) {
    int n = 0;
    do {
        n++;
    } while ((size_t)n * 16 < size);
    return n;
}
void *malloc(size_t size) {
    int n = blocks(size) + 1;
    size_t at = __atomic_fetch_add(&used, (size_t)n * 16, __ATOMIC_RELAXED);
    if (at + (size_t)n * 16 > sizeof room) return 0;
    if (!tally) return room + at;
    T(1);
    if (size > 100) {
        T(2);
    }
    return room + at;
}
void free(void *p) {
    if (!tally) return;
    if (p) {
        T(3);
    }
    T(4);
}
void *calloc(size_t n, size_t size) {
    return malloc(n * size);
}
void *realloc(void *old, size_t size) {
    void *new = malloc(size);
    if (old) {
        memcpy(new, old, size < (size_t)(room + sizeof room - (char *)old) ? size : 0);
    }
    return new;
}
static int one(void) { return 1; }
static int two(void) { return 2; }
static int halve(int n) {
    while (n > 10) n /= 2;
    return n;
}
static int (*choose(void))(void) { return halve(1000) > 5 ? one : two; }
int chosen(void) __attribute__((ifunc("choose")));
static volatile int ticks;
static void on_alarm(int s) {
    T(5);
    ticks += s > 0 ? chosen() : 0;
}
static void *work(void *p) {
    stack_t own = {.ss_sp = malloc(65536), .ss_size = 65536};
    T(6);
    sigaltstack(&own, 0);
    for (int i = 0; i < 3000; i++) {
        T(7);
        free(malloc((size_t)(i % 200)));
        if (i % 3 == 0) {
            T(8);
            ticks += chosen();
        }
    }
    return p;
}
int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigaction(SIGALRM, &action, 0);
    struct itimerval every = {{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &every, 0);
    pthread_t t[4];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 4; i++) {
            T(9);
            pthread_create(&t[i], 0, work, 0);
        }
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    }
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_REAL, &every, 0);
    T(10);
    return 0;
}
