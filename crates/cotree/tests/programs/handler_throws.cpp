/* A signal handler in which an exception is thrown and caught; with an argument it is left by a jump. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static sigjmp_buf back;
static bool jumps;
static volatile int caught;
__attribute__((noinline)) static void fail(int n) {
    if (n > 0) fail(n - 1);
    throw n;
}
static void handler(int) {
    try {
        fail(3);
    } catch (int) {
        caught = caught + 1;
    }
    if (jumps) siglongjmp(back, 1);
}
int main(int argc, char **) {
    jumps = argc > 1;
    signal(SIGUSR1, handler);
    for (volatile int i = 0; i < 5; i = i + 1)
        if (sigsetjmp(back, 1) == 0) raise(SIGUSR1);
    printf("%d\n", caught);
    return 0;
}
