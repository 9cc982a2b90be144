/* Counting begins anew while functions are under way whose entries follow from their callers. */
#include "tally.h"
#include <string.h>
#define APART __attribute__((noinline)) static
void cotree_reset(void) __attribute__((weak));
static volatile int sink;
static int resets;
APART void leaf(int n) {
    T(1);
    sink += n;
}
APART void anew(void) {
    T(2);
    leaf(1);
    memset((void *)tally, 0, TALLY_SLOTS * sizeof *tally);
    cotree_reset();
    resets++;
    T(3);
    leaf(2);
}
APART void deep(int n, int when) {
    T(4);
    leaf(n);
    if (n == when) {
        T(5);
        anew();
        leaf(3);
    }
    leaf(4);
    if (n > 0) {
        T(6);
        deep(n - 1, when);
    }
    leaf(5);
    T(7);
}
int main(void) {
    if (!cotree_reset) return 95;
    for (int i = 0; i < 6; i++) {
        T(8);
        leaf(6);
        deep(i, i / 2);
        leaf(7);
        deep(i, 77);
        T(9);
    }
    T(10);
    return resets != 6;
}
