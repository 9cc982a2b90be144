/* Threads in functions whose entries follow from their callers: some leave by pthread_exit deep inside, and some still
   sleep there when the process ends. */
#include "tally.h"
#include <pthread.h>
#define APART __attribute__((noinline)) static
static __thread volatile int sink;
static int never[2], asleep[2];
APART void leaf(int n) {
    T(1);
    sink += n;
}
APART void leaves(int depth, void *value) {
    T(2);
    leaf(depth);
    if (depth == 0) {
        T(3);
        pthread_exit(value);
    }
    leaves(depth - 1, value);
    T(4);
    leaf(depth);
}
APART void sleeps(int depth) {
    T(5);
    leaf(depth);
    char c = 0;
    if (depth == 0) {
        T(6);
        if (write(asleep[1], &c, 1) != 1 || read(never[0], &c, 1) != 1) _exit(98);
        T(7);
        leaf(c);
    } else {
        T(8);
        sleeps(depth - 1);
        leaf(depth);
    }
    T(9);
}
APART void works(long id) {
    T(10);
    for (int i = 0; i < 5000; i++) {
        T(11);
        leaf(i);
        if ((i + id) % 5 == 0) {
            T(12);
            leaf(-i);
        }
    }
}
static void *run(void *argument) {
    long id = (long)argument;
    T(13);
    works(id);
    if (id % 3 == 1) leaves((int)id, argument);
    if (id % 3 == 2) sleeps((int)id);
    T(14);
    leaf(1);
    return argument;
}
int main(void) {
    pthread_t threads[9];
    char c;
    if (pipe(never) != 0 || pipe(asleep) != 0) return 97;
    for (long i = 0; i < 9; i++) {
        T(15);
        pthread_create(&threads[i], 0, run, (void *)i);
    }
    for (int i = 0; i < 9; i++) {
        if (i % 3 != 2) pthread_join(threads[i], 0);
        else if (read(asleep[0], &c, 1) != 1) return 96;
    }
    /* All have said that they are about to sleep: give them the time. */
    usleep(200000);
    T(16);
    works(3);
    return 0;
}
