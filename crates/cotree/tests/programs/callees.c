/* Functions whose entries follow from their callers: calls of several of them in one block that end early one after the
   other, recursion, jumps over them and back into the middle of a block, fork inside of them. */
#include "tally.h"
#include <setjmp.h>
#include <sys/wait.h>
#define APART __attribute__((noinline)) static
static jmp_buf back;
static int role;
static volatile int sink;
APART void leaf(int n) {
    T(1);
    sink += n;
}
APART int odd(int n);
APART int even(int n) {
    T(2);
    leaf(n);
    if (n == 0) {
        T(3);
        return 1;
    }
    return odd(n - 1);
}
APART int odd(int n) {
    T(4);
    if (n == 0) {
        T(5);
        return 0;
    }
    int r = even(n - 1);
    leaf(r);
    return r;
}
APART void jump(int n) {
    T(6);
    if (n % 3 == 0) {
        T(7);
        longjmp(back, n + 1);
    }
    leaf(n);
}
APART void between(int n) {
    T(8);
    leaf(1);
    jump(n);
    leaf(2);
    jump(n / 2);
    T(9);
    leaf(3);
}
/* The second return of setjmp goes on in a block that calls: once per return. */
APART void returns_twice(int n) {
    T(10);
    volatile int times = 0;
    setjmp(back);
    T(11);
    leaf(4);
    if (times++ < n) {
        T(12);
        between(n * 3);
    }
    leaf(5);
}
APART void split(int depth) {
    T(13);
    leaf(depth);
    if (depth > 0) {
        T(14);
        split(depth - 1);
        leaf(depth);
        T(15);
        return;
    }
    fflush(stdout);
    if (fork() == 0) {
        tally_open();
        T(16);
        role++;
        leaf(6);
        return;
    }
    T(17);
    leaf(7);
    wait(0);
}
APART int ends(int n) {
    T(18);
    leaf(8);
    if (n > 5) {
        T(19);
        exit(role ? 0 : 5);
    }
    leaf(9);
    T(20);
    return n + 1;
}
APART int tail(int n) {
    T(21);
    return ends(n);
}
int main(void) {
    for (int i = 0; i < 9; i++) {
        T(22);
        sink += even(i) + odd(i);
    }
    for (int i = 1; i < 8; i++) {
        T(23);
        returns_twice(i);
    }
    split(3);
    split(1);
    for (int n = 0; n < 100;) {
        n = tail(n);
        leaf(n);
        n = ends(n);
        T(24);
        leaf(n);
    }
    T(25);
    return 1;
}
