/* fork with and without exec, from inside of frames that both processes return from; a failing exec; _exit. */
#include "tally.h"
#include <string.h>
#include <sys/wait.h>
static int role;
static int split(int depth) {
    T(1);
    if (depth > 0) {
        T(2);
        int r = split(depth - 1);
        T(3);
        return r + 1;
    }
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        tally_open();
        T(4);
        role = 1;
        return 0;
    }
    T(5);
    int status;
    waitpid(pid, &status, 0);
    return status;
}
static void child_exec(void) {
    pid_t pid = fork();
    if (pid == 0) {
        tally_open();
        T(6);
        execl("/nonexistent", "nonexistent", (char *)0);
        T(7);
        execl("/bin/true", "true", (char *)0);
        T(8);
        _exit(1);
    }
    T(9);
    waitpid(pid, 0, 0);
}
static void child_exits(int n) {
    pid_t pid = fork();
    if (pid == 0) {
        tally_open();
        for (int i = 0; i < n; i++) {
            T(10);
            if (i == 3) {
                T(11);
                _exit(0);
            }
        }
        T(12);
        exit(0);
    }
    T(13);
    waitpid(pid, 0, 0);
}
int main(void) {
    for (int i = 0; i < 4; i++) {
        T(14);
        int r = split(i);
        T(15);
        if (role) {
            T(16);
            return r & 1;
        }
    }
    child_exec();
    child_exits(2);
    child_exits(9);
    T(17);
    return 0;
}
