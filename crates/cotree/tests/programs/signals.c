/* Handlers that share code with what they interrupt. */
#include "tally.h"
#include <signal.h>
#include <string.h>
static volatile int level;
static int shared(int n) {
    int sum = 0;
    T(1);
    for (int i = 0; i < n; i++) {
        T(2);
        sum += i & level;
    }
    return sum;
}
static void on_signal(int sig) {
    T(3);
    level += shared(sig % 7);
    if (sig == SIGUSR2 && level < 1000) {
        T(4);
        raise(SIGUSR1);
    }
    T(5);
}
int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGUSR2, &action, 0);
    for (int i = 0; i < 500; i++) {
        T(6);
        if (i % 3 == 0) {
            T(7);
            raise(SIGUSR1);
        } else if (i % 5 == 0) {
            T(8);
            raise(SIGUSR2);
        }
        level = shared(i % 9);
    }
    T(9);
    return 0;
}
