/* All ways of libc to install a handler, each of which is asked for again. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
typedef void (*handler)(int);
static volatile int handled;
static void handle(int signal) { handled += signal != 0; }
static void check(int as_expected) { if (!as_expected) { printf("not mine\n"); _exit(1); } raise(SIGUSR1); }
int main(void) {
  struct sigaction action = {.sa_handler = handle};
  check(!sigaction(SIGUSR1, &action, 0) && !sigaction(SIGUSR1, 0, &action) && action.sa_handler == handle);
  check(signal(SIGUSR1, handle) == handle);
  check(sigset(SIGUSR1, handle) == handle);
  check(sysv_signal(SIGUSR1, handle) == handle);
  unsigned long kernel[4] = {0};
  sigaction(SIGUSR1, &action, 0);
  syscall(SYS_rt_sigaction, (long)SIGUSR1, 0L, kernel, 8L);
  check(kernel[0] == (unsigned long)handle && !syscall(SYS_rt_sigaction, (long)SIGUSR1, kernel, kernel, 8L)
    && kernel[0] == (unsigned long)handle);
  printf("%d handled\n", handled);
  return 0;
}
