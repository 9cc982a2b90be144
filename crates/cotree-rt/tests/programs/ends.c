// Ends of all kinds, by name.
#define _GNU_SOURCE
#include "unit.h"
#include "asleep.h"
#undef NDEBUG
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
static const char *how;
static sigjmp_buf back;
static int is(const char *s) { return !strcmp(how, s); }
static void leave_by_exit(int s) { _exit(4); }
static void leave_by_jump(int s) { siglongjmp(back, 1); }
static void *sleeper(void *p) { for (;;) pause(); return p; }
NOINLINE void leave(char **argv) {
    SITE("leave");
    BUMP(1);
    if (is("_exit") || is("secure") || is("raise-limit")) _exit(4);
    if (is("_Exit")) _Exit(4);
    if (is("quick_exit")) quick_exit(4);
    if (is("thread")) { pthread_t t; pthread_create(&t, 0, sleeper, 0); until_asleep(1); exit(4); }
    if (is("abort-caught")) signal(SIGABRT, leave_by_exit);
    if (is("abort-jumped")) signal(SIGABRT, leave_by_jump);
    if (!strncmp(how, "abort", 5)) abort();
    if (is("assert")) assert(!"true");
    if (is("err")) errx(4, "as told");
    if (is("again")) { argv[1] = "_exit"; execv("/proc/self/exe", argv); }
    if (is("sleep")) { for (int i = 0; i < 1000; i++) BUMP(2); for (;;) pause(); }
}
int main(int argc, char **argv) {
    BUMP(0);
    if (errno != 0) return 77;
    how = argc > 1 ? argv[1] : "";
    struct rlimit core = {0, 0};
    setrlimit(RLIMIT_CORE, &core);
    if (is("secure")) { printf("secure %lu\n", getauxval(AT_SECURE)); fflush(stdout); }
    if (is("raise-limit")) { struct rlimit l; getrlimit(RLIMIT_FSIZE, &l); l.rlim_cur = l.rlim_max; setrlimit(RLIMIT_FSIZE, &l); }
    if (sigsetjmp(back, 1) == 0) leave(argv);
    return 0;
}
