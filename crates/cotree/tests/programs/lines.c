/* Lines that are more than one statement, or less: heads of endless loops, macros that are loops, conditions over several
   lines, operators on lines of their own, labels that control falls through. */
#include "tally.h"
#define LOG(...) do { if (0) { printf(__VA_ARGS__); } } while (0)
#define RETURN_IF(condition, value, ...) \
    do { if (condition) { do { } while (0); LOG(__VA_ARGS__); do { } while (0); return value; } } while (0)
static volatile int zero, one = 1;
static int endless(int n) {
    int sum = 0;
    while (1) { /* as T(1) */
        T(1);
        if (n-- <= 0) break;
        if (n & 1) {
            sum += n;
        }
    }
    for (;;) { /* as T(2) */
        T(2);
        if (sum > 3) {
            sum -= 3;
        } else {
            break;
        }
    }
    if (n < one) {
        while (1) { /* as T(3) */
            T(3);
            if (sum++ > 5) {
                if (one) return sum;
            }
        }
    }
    return sum;
}
static int macros(int x) {
    if (x > 0) {
        T(4);
        RETURN_IF( /* as T(4) */
            x + 1 > 100,
            -3,
            "error: %d",
            x);
    }
    for (int i = 0; i < x; i++) {
        T(5);
        if (i > 3) RETURN_IF(i == 7, i, "%d", x); /* as T(5) */
    }
    T(6);
    RETURN_IF( /* as T(6) */
        x == -100,
        1,
        "error: %d",
        x);
    return x;
}
static int conditions(int x) {
    T(7);
    int value = x >= 0
        || (T(21), zero > 3); /* as T(21) */
    T(8);
    if (x == 1
        || /* as T(8) */
        x == 2) {
        value += 2;
    }
    if (x > 2
        && (T(9), x < 8) /* as T(9) */
        && (T(10), x != 5)) { /* as T(10) */
        value += 4;
    }
    while (x-- > 7
           && (T(11), value++ < 9)) { /* as T(11) */
        T(12);
        value++;
    }
    T(13);
    return value
        && one
        && (T(22), x > 0); /* as T(22) */
}
static int labels(int x) {
    int value = 0;
    switch (x) {
    case 0:
        value = 1;
        T(14);
        break; /* as T(14) */
    case 1: /* this one */
        value = 2;
        T(15);
        break; /* as T(15) */
    case 2:
    case 3:
        ;
    case 4:
        ;
    case 5:
        value = 3;
        T(16);
        break; /* as T(16) */
    default:
        T(17);
        if (x == 7) {
            value = 4;
        }
    }
    T(18);
    if (value > one) { /* as T(18) */
        value++;
    }
    goto done;
done:
    T(19);
    return value; /* as T(19) */
}
int main(void) {
    int sum = 0;
    for (int i = -2; i < 12; i++) {
        T(20);
        sum += endless(i) + macros(i) + conditions(i) + labels(i);
    }
    printf("%d\n", sum);
    return 0;
}
