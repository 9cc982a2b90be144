// An exception that nobody catches: std::terminate, abort.
#include "tally.h"
#include <stdexcept>
static int sink;
__attribute__((noinline)) static void thrower(int n) {
    T(1);
    if (n == 0) {
        T(2);
        throw std::logic_error("nobody cares");
    }
    thrower(n - 1);
    T(3);
    sink++;
}
int main() {
    for (int i = 0; i < 3; i++) {
        T(4);
        sink += i;
    }
    T(5);
    thrower(sink);
    T(6);
    return 0;
}
