/* A handler of another type than a handler has; its timer interrupts the very code that it runs. */
#include "tally.h"
#include <signal.h>
#include <string.h>
#include <sys/time.h>
static volatile int hits, level;
static int shared(int n) {
    int sum = 0;
    T(1);
    for (int i = 0; i < n; i++) {
        T(2);
        if (i & 1) {
            T(3);
            sum += i & level;
        }
    }
    return sum;
}
static void on_alarm(void) {
    T(4);
    hits++;
    level += shared(19);
}
int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = (void (*)(int))on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, 0);
    struct itimerval every = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &every, 0);
    for (int i = 0; hits < 1500; i++) {
        level = shared(100);
    }
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_REAL, &every, 0);
    T(5);
    return 0;
}
