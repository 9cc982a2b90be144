// A cleanup that is inlined into the try block: its resume becomes a jump to the handler.
#include "tally.h"
struct Guard {
    int n;
    ~Guard() {
        T(1);
        if (n == 77) puts("never");
    }
};
__attribute__((noinline)) static void thrower(int x) {
    T(2);
    if (x > 2) {
        T(3);
        throw 5;
    }
}
static inline void inner(int x) {
    Guard g{x};
    T(4);
    thrower(x);
    T(5);
}
static inline void outer(int x) {
    T(6);
    inner(x);
    T(7);
}
int main() {
    int s = 0;
    for (int i = 0; i < 200; i++) {
        try {
            T(8);
            outer(i % 5);
            T(9);
        } catch (int) {
            T(10);
            s += 3;
        }
    }
    printf("%d\n", s);
    T(11);
}
