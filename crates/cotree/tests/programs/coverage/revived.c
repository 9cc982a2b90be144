/* Functions that a jump out of a call leaves before they call `setjmp`, which returns again. */
#include "../tally.h"
#include <setjmp.h>
static int calls;
static jmp_buf *target;
static int may_jump(int n) {
    if (++calls % 5 == 3 && target) longjmp(*target, 1);
    return n;
}
static int revived(int n) {
    T(1);
    n += may_jump(1);
    T(2);
    jmp_buf here, *volatile before = target;
    if (setjmp(here) == 0) {
        target = &here;
        T(3);
        n += may_jump(2);
        T(4);
        n += may_jump(3);
        T(5);
    } else {
        T(6);
        n = 7;
    }
    target = before;
    T(7);
    n += may_jump(4);
    T(8);
    return n;
}
static int returned(int n) {
    T(13);
    if (n % 4 == 0) {
        T(14);
    } else if (n % 5 == 1) {
        return n;
    }
    T(15);
    jmp_buf here, *volatile before = target;
    if (setjmp(here) == 0) {
        target = &here;
        T(16);
        n += may_jump(2);
        T(17);
    } else {
        T(18);
    }
    target = before;
    T(19);
    n += may_jump(4);
    T(20);
    return n;
}
int main(void) {
    jmp_buf here;
    int volatile n = 0;
    for (int volatile i = 0; i < 40; i++) {
        T(9);
        if (setjmp(here) == 0) {
            target = &here;
            n += revived(i);
            n += returned(i);
            T(10);
        } else {
            T(11);
        }
        target = 0;
    }
    T(12);
    return n == 0;
}
