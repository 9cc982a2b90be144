/* Killed inside of functions whose entries follow from their callers. Argument: the signal to raise. */
#include "tally.h"
#include <signal.h>
#define APART __attribute__((noinline)) static
static volatile int sink;
APART void leaf(int n) {
    T(1);
    sink += n;
}
APART void dies(int n, int sig) {
    T(2);
    leaf(n);
    if (n == 40) {
        T(3);
        raise(sig);
        T(4);
    }
    leaf(-n);
    T(5);
}
APART void never(int n) {
    T(6);
    leaf(n);
}
int main(int argc, char **argv) {
    for (int i = 0; i < 90; i++) {
        T(7);
        dies(i, atoi(argv[1]));
        T(8);
        leaf(1);
        if (argc > 7) never(i);
    }
    return 0;
}
