/* longjmp over frames with loops, to a frame that is called again and again; setjmp's second returns. */
#include "tally.h"
#include <setjmp.h>
static jmp_buf env, inner;
static int work(int n) {
    T(1);
    for (int i = 0; i < n; i++) {
        T(2);
        if (i == 5) {
            T(3);
            longjmp(env, n);
        }
        if (n > 3 && i == 3) {
            T(4);
            work(n - 1);
            T(5);
        }
    }
    T(6);
    return n;
}
static int guard(int n) {
    T(7);
    int code = setjmp(env);
    T(8);
    if (code) {
        T(9);
        return code;
    }
    T(10);
    work(n);
    T(11);
    return 0;
}
static int retry(void) {
    volatile int tries = 0;
    T(12);
    if (_setjmp(inner) < 4) {
        T(13);
        tries++;
        T(14);
        longjmp(inner, tries);
    }
    T(15);
    return tries;
}
static sigjmp_buf sig;
static int with_signals(int n) {
    T(16);
    if (sigsetjmp(sig, 1) == 0) {
        T(17);
        for (int i = 0; i < n; i++) {
            T(18);
            if (i == 3) siglongjmp(sig, 1);
        }
        T(19);
        return 0;
    }
    T(20);
    return 1;
}
int main(void) {
    int sum = 0;
    for (int n = 0; n < 12; n++) {
        T(21);
        sum += guard(n) + with_signals(n);
    }
    sum += retry();
    T(22);
    printf("%d\n", sum);
    return 0;
}
