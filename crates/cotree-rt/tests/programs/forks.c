// fork with and without exec, vfork, failed exec, _exit, posix_spawn.
#define _GNU_SOURCE
#include "unit.h"
#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
static int volatile one = 1;
static void reap(pid_t p, int want) {
    int s;
    if (waitpid(p, &s, 0) != p || !WIFEXITED(s) || WEXITSTATUS(s) != want) abort();
}
NOINLINE void fork_and_return(void) {
    SITE("fork_and_return");
    BUMP(1);
    pid_t p = fork();
    if (p == 0) { BUMP(2); return; }
    reap(p, 4);
    BUMP(3);
}
NOINLINE void fork_and_exec(void) {
    pid_t p = fork();
    if (p == 0) { BUMP(4); execl("/bin/sh", "sh", "-c", "exit $1", "sh", "6", (char *)0); _exit(1); }
    reap(p, 6);
}
NOINLINE void vfork_and_exec(void) {
    SITE("vfork_and_exec");
    pid_t p = vfork();
    if (p == 0) { BUMP(5); execlp("sh", "sh", "-c", "exit 7", (char *)0); _exit(1); }
    reap(p, 7);
    p = vfork();
    if (p == 0) { BUMP(6); if (execl("/no/such/file", "x", (char *)0) != -1 || errno != ENOENT) _exit(1); _exit(8); }
    reap(p, 8);
}
NOINLINE int failing_exec(void) {
    SITE("failing_exec");
    BUMP(7);
    char *v[] = {"x", 0};
    return execve("/no/such/file", v, v) == -1 && errno == ENOENT;
}
int main(void) {
    pid_t me = getpid();
    fork_and_return();
    if (getpid() != me) { BUMP(10); return 4; }
    fork_and_exec();
    vfork_and_exec();
    if (!failing_exec()) return 1;
    pid_t p;
    char *v[] = {"sh", "-c", "exit 9", 0};
    if (posix_spawn(&p, "/bin/sh", 0, 0, v, environ)) return 2;
    reap(p, 9);
    if (system("exit 0")) return 3;
    BUMP(11);
    _exit(0);
}
