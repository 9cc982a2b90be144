// Exceptions through functions whose entries follow from their callers: thrown out of them, caught in them, passed on by
// cleanups, in the middle of blocks that call more of them.
#include "tally.h"
#include <stdexcept>
#define APART __attribute__((noinline)) static
static volatile int sink;
APART void leaf(int n) {
    T(1);
    sink = sink + n;
}
struct Guard {
    ~Guard() {
        T(2);
        leaf(1);
    }
};
APART void throws(int n) {
    T(3);
    leaf(2);
    if (n % 4 == 1) {
        T(4);
        throw n;
    }
    if (n % 4 == 2) {
        T(5);
        throw std::runtime_error("two");
    }
    leaf(3);
}
APART void passes(int n) {
    T(6);
    Guard guard;
    leaf(4);
    throws(n);
    leaf(5);
    throws(n / 2);
    T(7);
    leaf(6);
}
APART int catches(int n) {
    T(8);
    try {
        leaf(7);
        passes(n);
        leaf(8);
    } catch (int) {
        T(9);
        leaf(9);
        return 1;
    } catch (std::exception &) {
        T(10);
        leaf(10);
        if (n % 3 == 0) {
            T(11);
            throw;
        }
    }
    leaf(11);
    T(12);
    return n > 0 ? catches(n / 3) + 1 : 0;
}
int main() {
    for (int i = 0; i < 60; i++) {
        T(13);
        try {
            leaf(catches(i));
            T(14);
            leaf(catches(i + 1));
            T(15);
        } catch (...) {
            T(16);
            leaf(12);
        }
    }
    T(17);
    printf("%d\n", sink & 1);
}
