/* A child that cannot create its profile must not touch its parent's. */
#include "tally.h"
#include <sys/resource.h>
#include <sys/wait.h>
static int work(int n) {
    int sum = 0;
    T(1);
    for (int i = 0; i < n; i++) {
        T(2);
        sum += i;
    }
    return sum;
}
int main(void) {
    T(3);
    fflush(stdout);
    struct rlimit limit = {3, 3};
    setrlimit(RLIMIT_NOFILE, &limit);
    pid_t pid = fork();
    if (pid == 0) {
        static unsigned long own[TALLY_SLOTS];
        tally = own;
        exit(work(1000) & 1);
    }
    int status;
    waitpid(pid, &status, 0);
    T(4);
    printf("%d\n", work(10));
    return 0;
}
