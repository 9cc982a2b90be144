// Calls that do not return, of each kind, deep in calls and in all sorts of statements. The first argument says how.
#define TALLY_SLOTS 128
#include "../tally.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#define TWICE(a, b) do { if (!(a)) step(kind); step(b); } while (0)
#define QUIET(a) ((a) ? 1 : never())

static jmp_buf back;
static int turns;

static int never(void)
{
    T(0);
    return 0;
}

static int leave(const char *kind)
{
    T(1);
    if (++turns < 5)
        return turns;
    T(2);
    if (!strcmp(kind, "exit"))
        exit(3);
    if (!strcmp(kind, "_exit"))
        _exit(4);
    if (!strcmp(kind, "abort"))
        abort();
    if (!strcmp(kind, "kill"))
        raise(SIGKILL);
    if (!strcmp(kind, "term"))
        raise(SIGTERM);
    if (!strcmp(kind, "jump"))
        longjmp(back, 1);
    if (!strcmp(kind, "thread"))
        pthread_exit(0);
    T(3);
    return turns;
}

static int step(const char *kind)
{
    T(4);
    int result = leave(kind);
    T(5);
    return result;
}

static int lines(const char *kind, int n)
{
    T(6);
    if (n > 9)
        return 1;
    T(7);
    int sum = n +
        step(kind) + // A comment stands here.
        QUIET(n < 9);
    T(8);
    if (n == 1) {
        T(9);
        step(kind);
        T(10);
    } else if (sum == 77) {
        T(11);
    } else {
        T(12);
    }
    T(13);
    for (int i = 0; i < n; i++) {
        T(14);
        if (i == 1)
            continue;
        TWICE(i != 2, kind);
        T(15);
    }
    T(16);
    switch (n) {
    case 0:
        T(17);
        step(kind);
        T(18);
        break;
    case 1:
        T(19);
    case 2:
        step(kind);
        T(20);
        break;
    default:
        T(21);
        sum += n && step(kind) && n > 2 ? 1 : 2;
        T(22);
    }
    T(23);
    while (step(kind) && sum-- > 0) {
        T(24);
    }
    T(25);
    do {
        T(26);
        sum++;
    } while (step(kind) && sum < 2);
    T(27);
    return sum;
}

static int once(const char *kind, int n)
{
    turns = n;
    T(30);
    if (setjmp(back)) {
        T(31);
        return 0;
    }
    T(32);
    int sum = lines(kind, 3 - n);
    T(33);
    lines(kind, n);
    T(34);
    return sum;
}

static void *in_thread(void *kind)
{
    T(40);
    once(kind, 1);
    T(41);
    return kind;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "none";
    T(50);
    if (!strcmp(kind, "thread")) {
        pthread_t thread;
        T(51);
        for (int i = 0; i < 3; i++) {
            turns = 0;
            pthread_create(&thread, 0, in_thread, argv[1]);
            pthread_join(thread, 0);
            T(52);
        }
        return 0;
    }
    T(53);
    if (!strcmp(kind, "jump")) {
        T(54);
        for (int n = -4; n < 4; n++) {
            once(kind, n);
            T(55);
        }
        T(56);
        return 0;
    }
    T(57);
    once(kind, 1);
    T(58);
    return 0;
}
