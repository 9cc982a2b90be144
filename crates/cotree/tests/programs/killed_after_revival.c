/* A process that is killed in activations which began before it, or before its counts were forgotten. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern int cotree_reset(void);
static volatile int behind_calls;
__attribute__((noinline)) static void behind(void) { behind_calls++; }
__attribute__((noinline)) static int inner(const char *what) {
    if (strcmp(what, "reset") == 0) {
        cotree_reset();
        kill(getpid(), SIGKILL);
    }
    int child = fork();
    if (child == 0) kill(getpid(), SIGKILL);
    waitpid(child, 0, 0);
    return child;
}
__attribute__((noinline)) static int outer(const char *what) {
    int result = inner(what);
    behind();
    return result;
}
int main(int argc, char **argv) {
    int result = outer(argv[1]);
    behind();
    return result == 0;
}
