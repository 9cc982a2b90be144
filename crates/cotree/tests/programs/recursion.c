/* Mutual recursion, callbacks through qsort and bsearch, function pointers, tail calls. */
#include "tally.h"
static int odd(unsigned n);
static int even(unsigned n) {
    T(1);
    if (n == 0) {
        T(2);
        return 1;
    }
    return odd(n - 1);
}
static int odd(unsigned n) {
    T(3);
    if (n == 0) {
        T(4);
        return 0;
    }
    return even(n - 1);
}
static int compare(const void *a, const void *b) {
    T(5);
    int x = *(const int *)a, y = *(const int *)b;
    if (x < y) {
        T(6);
        return -1;
    }
    T(7);
    return x > y;
}
static int ack(int m, int n) {
    T(8);
    if (m == 0) {
        T(9);
        return n + 1;
    }
    if (n == 0) {
        T(10);
        return ack(m - 1, 1);
    }
    T(11);
    return ack(m - 1, ack(m, n - 1));
}
static int twice(int (*f)(unsigned), unsigned n) {
    T(12);
    return f(n) + f(n + 1);
}
int main(void) {
    int v[200], sum = 0;
    unsigned s = 1;
    for (int i = 0; i < 200; i++) {
        T(13);
        s = s * 1103515245u + 12345u;
        v[i] = (int)(s >> 16) % 100;
    }
    qsort(v, 200, sizeof *v, compare);
    for (int i = 0; i < 100; i += 9) {
        T(14);
        if (bsearch(&i, v, 200, sizeof *v, compare)) {
            T(15);
            sum++;
        }
    }
    for (unsigned n = 0; n < 20; n++) {
        T(16);
        sum += twice(n % 2 ? even : odd, n);
    }
    printf("%d %d\n", sum, ack(2, 6));
    T(17);
    return 0;
}
