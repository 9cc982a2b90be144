/* Handlers that the kernel takes away as it calls them: the next signal ends the process. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
static volatile long sum;
static void __attribute__((noinline)) work(int n) { for (int i = 0; i < n; i++) sum += i & 1 ? n : -i; }
static void tidy_up(int signal) { work(5); raise(signal); }
static void handle(int signal) { work(signal); }
int main(int argc, char **argv) {
  int way = argc > 1 ? atoi(argv[1]) : 0;
  struct sigaction action = {.sa_handler = way < 2 ? tidy_up : handle, .sa_flags = SA_RESETHAND | (way == 1 ? SA_NODEFER : 0)};
  if (way == 3) sysv_signal(SIGTERM, handle); else sigaction(SIGTERM, &action, 0);
  work(77);
  raise(SIGTERM);
  work(33);
  raise(SIGTERM);
  return 0;
}
