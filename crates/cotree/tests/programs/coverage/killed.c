/* Killed in many places. Arguments: where, and how often the place is passed before. */
#include "../tally.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
static const char *where;
static int passes;
__attribute__((noinline)) static void die(const char *here) {
    T(1);
    if (strcmp(here, where) == 0 && passes-- == 0) {
        T(2);
        raise(SIGKILL);
        T(3);
    }
    T(4);
}
__attribute__((noinline)) static int straight(int n) {
    T(5);
    die("straight");
    T(6);
    return n + 1;
}
__attribute__((noinline)) static int once(int n) {
    T(7);
    n = straight(n);
    die("once");
    T(8);
    return n;
}
__attribute__((noinline)) static int branches(int n) {
    T(9);
    if (n % 3 == 0) {
        T(10);
        die("third");
        T(11);
    } else if (n % 3 == 1) {
        T(12);
    }
    T(13);
    return n;
}
__attribute__((noinline)) static int turns(int n) {
    T(14);
    int sum = 0;
    for (int i = 0; i < n; i++) {
        T(15);
        sum += branches(i);
        T(16);
        if (i == 1000) {
            T(17);
            break;
        }
    }
    T(18);
    return sum;
}
__attribute__((noinline)) static int deep(int n) {
    T(19);
    if (n == 0) {
        T(20);
        die("deep");
        T(21);
        return 0;
    }
    n = deep(n - 1);
    T(22);
    return n;
}
__attribute__((noinline)) static int choose(int n) {
    T(23);
    switch (n) {
    case 1:
        T(24);
        return 3;
    case 2:
        T(25);
        die("choose");
        T(26);
        break;
    default:
        T(27);
    }
    T(28);
    return 4;
}
static void on_signal(int sig) {
    (void)sig;
    T(29);
    die("handler");
    T(30);
}
static void *thread(void *argument) {
    T(31);
    die("thread");
    T(32);
    return argument;
}
__attribute__((noinline)) static void never(void) {
    T(33);
}
int main(int count, char **arguments) {
    T(34);
    where = count > 1 ? arguments[1] : "";
    passes = count > 2 ? atoi(arguments[2]) : 0;
    int n = once(1);
    T(35);
    n += turns(10);
    T(36);
    n += deep(5);
    T(37);
    for (int i = 0; i < 4; i++) {
        T(38);
        n += choose(i);
        T(39);
    }
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    T(40);
    pthread_t other;
    pthread_create(&other, 0, thread, 0);
    T(41);
    pthread_join(other, 0);
    T(42);
    if (n == 0) {
        T(43);
        never();
    }
    die("end");
    T(44);
    return 0;
}
