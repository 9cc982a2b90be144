/* abort() inside a chain, behind an assertion. */
#include "tally.h"
#include <assert.h>
static int check(int n) {
    T(1);
    if (n % 5 == 4) {
        T(2);
        assert(n < 9 && "too large");
    }
    T(3);
    return n;
}
int main(void) {
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        T(4);
        sum += check(i);
        T(5);
    }
    T(6);
    return sum & 1;
}
