/* What a program can see of its signals: prints the same, and ends the same, with and without a profile. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int got;
__attribute__((noinline)) static void handler(int n) { got = n; }
static void show(const char *what, int signal) {
  struct sigaction a;
  memset(&a, 0x55, sizeof a);
  if (sigaction(signal, 0, &a)) { printf("%s %d: error %d\n", what, signal, errno); return; }
  unsigned long mask;
  memcpy(&mask, &a.sa_mask, sizeof mask);
  const char *is = a.sa_handler == SIG_DFL ? "default" : a.sa_handler == SIG_IGN ? "ignored" : a.sa_handler == handler ? "own" : "other";
  printf("%s %d: %s %x %lx %d\n", what, signal, is, a.sa_flags, mask, a.sa_restorer != 0);
}
static int status_of(void (*act)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (!child) { act(); _exit(77); }
  int status;
  waitpid(child, &status, 0);
  return status & ~0x80; /* whether there is a core is up to the machine */
}
static void by_kill(void) { kill(getpid(), SIGTERM); }
static void by_raise(void) { raise(SIGUSR2); }
static void by_abort(void) { abort(); }
static void by_null(void) { *(volatile int *)0 = 1; }
static void by_trap(void) { __builtin_trap(); }
static void by_breakpoint(void) { __asm__ volatile("int3"); }
static void by_division(void) { volatile int z = 0; z = 1 / z; }
static void by_thread(void) { raise(SIGALRM); }
static void *in_thread(void *p) { by_thread(); return p; }
static void by_other_thread(void) { pthread_t t; pthread_create(&t, 0, in_thread, 0); pthread_join(t, 0); }
static void by_pipe(void) { int ends[2]; if (!pipe(ends)) { close(ends[0]); if (write(ends[1], "x", 1) < 0) _exit(1); } }
static void by_default_again(void) { signal(SIGINT, handler); signal(SIGINT, SIG_DFL); raise(SIGINT); }
static void by_blocked(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  sigprocmask(SIG_BLOCK, &set, 0);
  raise(SIGHUP);
  sigprocmask(SIG_UNBLOCK, &set, 0);
}
static char stack[65536];
static void by_overflow_on_stack(void) {
  stack_t s = {.ss_sp = stack, .ss_size = MINSIGSTKSZ};
  sigaltstack(&s, 0);
  raise(SIGQUIT);
}
static void by_limit(void) { struct rlimit l = {1, 2}; setrlimit(RLIMIT_FSIZE, &l); FILE *f = tmpfile(); if (f) { fprintf(f, "xx"); fclose(f); } raise(SIGXFSZ); }
static int deep(int n) { volatile char room[4096]; room[0] = (char)n; return deep(n + 1) + room[0]; }
static void by_overflow(void) { struct rlimit l = {256 << 10, 256 << 10}; setrlimit(RLIMIT_STACK, &l); deep(0); }
/* Handlers that the kernel takes away as it calls them. */
static void again(int n) { got = n; raise(n); }
static void once(int flags) { struct sigaction a = {.sa_handler = again, .sa_flags = SA_RESETHAND | flags}; sigaction(SIGTERM, &a, 0); raise(SIGTERM); }
static void by_once(void) { once(0); }
static void by_once_nested(void) { once(SA_NODEFER); }
static void by_old_signal(void) { sysv_signal(SIGUSR1, again); raise(SIGUSR1); }
static void by_raw_once(void) {
  struct sigaction a;
  sigaction(SIGUSR2, 0, &a);
  unsigned long kernel[4] = {(unsigned long)handler, 0, 0, 0}, old[4];
  sysv_signal(SIGUSR2, handler);
  syscall(SYS_rt_sigaction, (long)SIGUSR2, 0L, kernel, 8L);
  int own = kernel[0] == (unsigned long)handler;
  syscall(SYS_rt_sigaction, (long)SIGUSR2, kernel, old, 8L);
  own += old[0] == (unsigned long)handler;
  raise(SIGUSR2);
  printf("raw: %d, got %d\n", own, got);
  show("after once", SIGUSR2);
  fflush(stdout);
  raise(SIGUSR2);
}
static void by_exec(void) { execl("/bin/sh", "sh", "-c", "kill -INT $$; exit 3", (char *)0); }
static void by_ignored_exec(void) { signal(SIGINT, SIG_IGN); by_exec(); }
static void by_vfork(void) {
  pid_t child = vfork();
  if (!child) { kill(getpid(), SIGTERM); _exit(9); }
  int status;
  waitpid(child, &status, 0);
  _exit(WTERMSIG(status));
}
int main(int argc, char **argv) {
  (void)argc; (void)argv;
  for (int n = 1; n < 65; n++) if (n != 32 && n != 33) show("at first", n);
  printf("%d\n", signal(SIGINT, handler) == SIG_DFL);
  show("own", SIGINT);
  raise(SIGINT);
  printf("got %d\n", got);
  printf("%d\n", signal(SIGINT, SIG_DFL) == handler);
  show("default again", SIGINT);
  struct sigaction a = {.sa_handler = SIG_DFL, .sa_flags = SA_RESTART | SA_NODEFER}, old;
  sigaddset(&a.sa_mask, SIGHUP);
  printf("%d\n", sigaction(SIGTERM, &a, &old));
  show("with flags", SIGTERM);
  printf("%d\n", sigaction(SIGTERM, &a, &a));
  printf("%d %x\n", a.sa_handler == SIG_DFL, a.sa_flags);
  printf("%d\n", signal(SIGPIPE, SIG_IGN) == SIG_DFL);
  show("ignored", SIGPIPE);
  printf("%d\n", signal(SIGPIPE, SIG_DFL) == SIG_IGN);
  printf("%d %d\n", sigaction(SIGKILL, &a, 0), errno);
  printf("%d\n", sigset(SIGUSR1, handler) == SIG_DFL);
  printf("%d\n", sigset(SIGUSR1, SIG_DFL) == handler);
  sigset_t set;
  int number = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, 0);
  kill(getpid(), SIGUSR1);
  sigwait(&set, &number);
  printf("waited for %d\n", number);
  unsigned long kernel[4];
  syscall(SYS_rt_sigaction, SIGTERM, 0, kernel, 8);
  printf("kernel %lu\n", kernel[0]);
  printf("system %d\n", system("kill -TERM $$"));
  void (*all[])(void) = {by_kill, by_raise, by_abort, by_null, by_trap, by_breakpoint, by_division, by_other_thread, by_pipe,
    by_default_again, by_blocked, by_overflow_on_stack, by_limit, by_overflow, by_exec, by_ignored_exec, by_vfork,
    by_once, by_once_nested, by_old_signal, by_raw_once};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) printf("%u: %x\n", i, status_of(all[i]));
  return 0;
}
