#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define UNLOGGED __attribute__((no_sanitize("coverage"), noinline))

static volatile int handled, sink;
static struct itimerval timer = {{0, 500}, {0, 500}}, never;
static const char *how;

UNLOGGED static int digits(int n) { return n < 10 ? 1 : 1 + digits(n / 10); }

UNLOGGED static void on_timer(int signal) {
  handled++;
  for (int i = 0; i < handled % 7; i++) sink += digits(handled);
  if (!strcmp(how, "nested") && signal == SIGALRM) raise(SIGUSR1);
}

static int collatz(unsigned long n) {
  int steps = 0;
  while (n != 1) {
    if (n & 1) n = 3 * n + 1;
    else n /= 2;
    steps++;
  }
  return steps;
}

static int work(int n) {
  int sum = 0;
  for (int i = 1; i < n; i++) sum += i % 3 ? collatz(i) : -i;
  return sum;
}

int main(int argc, char **argv) {
  how = argv[1];
  struct sigaction action = {.sa_handler = on_timer}, old;
  sigaction(SIGALRM, &action, 0);
  sigaction(SIGALRM, 0, &old);
  if (old.sa_handler != on_timer || signal(SIGUSR1, on_timer) != SIG_DFL) return 9;
  int rounds = 0;
  setitimer(ITIMER_REAL, &timer, 0);
  while (handled < 40 && rounds < 3000) { // which the log holds, however seldom the timer strikes
    rounds++;
    sink += work(60);
  }
  setitimer(ITIMER_REAL, &never, 0);
  printf("%d\n", handled);
  return 0;
}
