// Threads that run the same lines at once.
#define TALLY_SLOTS 16
#include "../tally.h"
#include <pthread.h>

static unsigned branchy(unsigned n)
{
    T(0);
    if (n % 3 == 0) {
        T(1);
        return n / 3;
    }
    T(2);
    switch (n % 5) {
    case 0:
        T(3);
        n += 2;
        break;
    case 1:
        T(4);
    default:
        T(5);
        n++;
    }
    for (unsigned i = 0; i < n % 4; i++) {
        T(6);
    }
    T(7);
    return n && n % 7 ? n - 1 : n;
}

static void *work(void *of)
{
    for (unsigned i = 0; i < 20000; i++) {
        if (branchy(i) == 1)
            T(8);
    }
    return of;
}

int main(void)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], 0);
    return 0;
}
