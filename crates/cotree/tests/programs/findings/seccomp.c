/* What the first argument says, behind a filter that kills for all but the system calls that the others name. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cotree.h"
static const struct { const char *name; int number; } known[] = {
#define CALL(name) {#name, SYS_##name}
    CALL(access), CALL(brk), CALL(clock_gettime), CALL(clock_nanosleep), CALL(clone), CALL(clone3), CALL(close), CALL(exit),
    CALL(exit_group), CALL(fallocate), CALL(flock), CALL(fstat), CALL(ftruncate), CALL(futex), CALL(getcwd), CALL(getpid), CALL(getrandom), CALL(gettid),
    CALL(lseek), CALL(lstat), CALL(madvise), CALL(mkdir), CALL(mmap), CALL(mprotect), CALL(mremap), CALL(munmap), CALL(nanosleep),
    CALL(openat), CALL(pause), CALL(pread64), CALL(prlimit64), CALL(pwrite64), CALL(read), CALL(readlink), CALL(rename), CALL(rseq),
    CALL(rt_sigaction), CALL(rt_sigpending), CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(rt_sigtimedwait),
    CALL(rt_tgsigqueueinfo), CALL(set_robust_list), CALL(stat), CALL(tgkill), CALL(uname), CALL(unlink), CALL(wait4), CALL(write),
    CALL(writev)};
enum { KNOWN = sizeof known / sizeof *known };
static int filter(int count, char **names) {
    static struct sock_filter code[1 + 2 * KNOWN + 1];
    int n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < KNOWN && strcmp(known[k].name, names[i])) k++;
        if (k == KNOWN || n > 2 * KNOWN) { fprintf(stderr, "%s?\n", names[i]); return -1; }
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, known[k].number, 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {(unsigned short)n, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
__attribute__((noinline)) static int work(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s ^= i % 3 ? i * 7 : n;
    return s;
}
static void *thread(void *waits) {
    work(100);
    if (waits) pause();
    return 0;
}
int main(int argc, char **argv) {
    volatile int x = work(10);
    if (argc < 2 || filter(argc - 2, argv + 2)) return 3;
    for (int i = 0; i < 5; i++) x += work(100);
    pthread_t one;
    switch (argv[1][0]) {
    case 't':
        if (pthread_create(&one, 0, thread, 0) || pthread_join(one, 0) || pthread_create(&one, 0, thread, argv)) return 4;
        usleep(1000);
        break;
    case 'f': {
        pid_t child = fork();
        if (child == 0) return work(3) < -1;
        int status;
        if (child < 0 || wait4(child, &status, 0, 0) != child || status) return 5;
        break;
    }
    case 's': raise(SIGTERM); break;
    case 'd': if (cotree_dump(0)) return 6; break;
    case 'g': for (int i = 0; i < 3000000; i++) x += work(i & 7); break;
    }
    return 0;
}
