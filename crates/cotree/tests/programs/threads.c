/* Eight threads through the same code; some return, some leave by pthread_exit deep inside. */
#include "tally.h"
#include <pthread.h>
static long sink[8];
static void leave(int depth, void *value) {
    T(1);
    if (depth == 0) {
        T(2);
        pthread_exit(value);
    }
    leave(depth - 1, value);
    T(3);
}
static void *run(void *arg) {
    long id = (long)arg;
    T(4);
    for (long i = 0; i < 20000; i++) {
        T(5);
        if ((i * 7 + id) % 3 == 0) {
            T(6);
            sink[id] += i;
        } else if (i % 11 == id) {
            T(7);
            sink[id] ^= i;
        }
    }
    if (id % 2) {
        T(8);
        leave((int)id, arg);
        T(9);
    }
    T(10);
    return arg;
}
int main(void) {
    pthread_t t[8];
    for (long round = 0; round < 3; round++) {
        for (long i = 0; i < 8; i++) {
            T(11);
            pthread_create(&t[i], 0, run, (void *)i);
        }
        for (int i = 0; i < 8; i++) {
            T(12);
            pthread_join(t[i], 0);
        }
    }
    T(13);
    printf("%d\n", (int)(sink[0] & 1));
    return 0;
}
