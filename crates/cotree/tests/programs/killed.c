/* Killed, or ended by a signal, in the middle: raw counters stay. Argument: the signal to raise. */
#include "tally.h"
#include <signal.h>
static int work(int n, int sig) {
    T(1);
    for (int i = 0; i < n; i++) {
        T(2);
        if (i == 77) {
            T(3);
            raise(sig);
            T(4);
        }
    }
    return n;
}
int main(int argc, char **argv) {
    T(5);
    int r = work(50, 0);
    r += work(100, atoi(argv[1]));
    T(6);
    return r;
}
