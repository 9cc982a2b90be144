// The folder with the profile is renamed before threads start.
#include "unit.h"
#include <pthread.h>
static void *work(void *p) { for (int i = 0; i < 1000; i++) BUMP(1); return p; }
int main(void) {
    if (rename("before", "after")) return 1;
    pthread_t t[8];
    for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
    return 0;
}
