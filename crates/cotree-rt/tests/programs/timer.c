// libc starts the thread that runs a SIGEV_THREAD notification, unseen.
#include "unit.h"
#include <signal.h>
#include <time.h>
static volatile int rung = 0;
static void ring(union sigval v) { ENTERED(); BUMP(1); rung = 1; }
int main(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer)) return 1;
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    timer_settime(timer, 0, &soon, 0);
    while (!rung) usleep(1000);
    return 0;
}
