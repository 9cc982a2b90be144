/* Text of macros of several lines that is left in the midst. With an argument by the first one, else by the second. */
#include "../tally.h"
#define CHECK(x) do { \
        T(1); \
        if (x) { \
            T(2); \
            leave(); \
            T(3); \
        } \
        T(4); \
    } while (0)
#define PAIR() \
    T(5); \
    leave(); \
    T(6);
static int code;
__attribute__((noinline)) static void leave(void) {
    T(7);
    if (code >= 0) exit(code);
}
static void first(int n) {
    T(8);
    CHECK(n);
    T(9);
}
static void second(void) {
    T(10);
    PAIR()
    T(11);
}
int main(int count, char **arguments) {
    code = -1;
    first(count > 5);
    second();
    code = 0;
    if (count > 1) {
        first(1);
    } else {
        second();
    }
    T(12);
    return 1;
}
