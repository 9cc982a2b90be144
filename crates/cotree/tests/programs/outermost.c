/* How many allocations happened while functions were under way at all, however often they were entered in the
   meantime: by a stack that the program keeps itself. Recursion that is direct, mutual, by pointers and by code that is
   not profiled; and left by longjmp, exit and pthread_exit, or forked. Nothing of cotree takes part in that. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline)) static
enum function { FACTORIAL, EVEN, ODD, SORT, COMPARE, VISIT, DIG, JUMP, LEAVE, HANDLE, BEGIN, FORK, COUNT };
static const char *const names[] = {"factorial", "even",  "odd",   "sort",   "compare", "visit",
                                    "dig",       "jump", "leave", "handle", "begin",   "forks"};
static long sums[COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __thread long now, inclusive[COUNT], began[COUNT], depth[COUNT];
static __thread int height;
static __thread enum function stack[4096];
static void *volatile kept;

APART int enter(enum function function) {
  if (depth[function]++ == 0) began[function] = now;
  stack[height++] = function;
  return height - 1;
}
APART void leave_to(int below) {
  while (height > below) {
    enum function function = stack[--height];
    if (--depth[function] == 0) inclusive[function] += now - began[function];
  }
}
APART void thread_is_over(void) {
  leave_to(0);
  pthread_mutex_lock(&lock);
  for (int function = 0; function < COUNT; function++) sums[function] += inclusive[function];
  pthread_mutex_unlock(&lock);
  memset(inclusive, 0, sizeof inclusive);
}
APART void print(void) {
  thread_is_over();
  for (int function = 0; function < COUNT; function++) printf("%s %ld\n", names[function], sums[function]);
  fflush(stdout);
}
APART void event(int times) {
  for (int i = 0; i < times; i++) { now++; kept = malloc(1); }
}

APART int factorial(int n) {
  int below = enter(FACTORIAL);
  event(1);
  if (n == 4) raise(SIGUSR1);
  int result = n <= 1 ? 1 : n * factorial(n - 1);
  event(1);
  leave_to(below);
  return result;
}

APART int odd(int n);
APART int even(int n) {
  int below = enter(EVEN);
  event(2);
  if (n == 3) raise(SIGUSR1);
  int result = n == 0 ? 1 : odd(n - 1);
  event(1);
  leave_to(below);
  return result;
}
APART int odd(int n) {
  int below = enter(ODD);
  event(3);
  int result = n == 0 ? 0 : even(n - 1);
  leave_to(below);
  return result;
}

static __thread int levels;
APART int compare(const void *a, const void *b);
APART void sort(int n) {
  int below = enter(SORT), numbers[] = {4, 3, 1, 2}, before = levels;
  event(1);
  levels = n;
  qsort(numbers, 4, sizeof *numbers, compare);
  levels = before;
  event(1);
  leave_to(below);
}
APART int compare(const void *a, const void *b) {
  int below = enter(COMPARE);
  event(1);
  if (levels > 0) sort(levels - 1);
  leave_to(below);
  return *(const int *)a - *(const int *)b;
}

/* By a pointer, and at two places. */
static int (*volatile chosen)(int);
APART int visit(int n) {
  int below = enter(VISIT), sum = 0;
  event(1);
  if (n > 0) sum = chosen(n - 1);
  if (n > 2) sum += visit(n - 3);
  if (n == 4) sum += factorial(3);
  event(1);
  leave_to(below);
  return sum + n;
}

/* Left at once, with and without the one that it is left to. */
static __thread jmp_buf back;
APART int dig(int n) {
  int below = enter(DIG);
  event(1);
  if (n == 0) longjmp(back, 1);
  int result = dig(n - 1) + 1;
  event(1);
  leave_to(below);
  return result;
}
APART int jump(int n) {
  volatile int below = enter(JUMP);
  event(1);
  if (!setjmp(back)) return dig(n);
  leave_to(below + 1);
  event(2);
  if (n > 1) {
    jmp_buf outer;
    memcpy(outer, back, sizeof outer);
    jump(n - 1);
    memcpy(back, outer, sizeof outer);
  }
  event(1);
  leave_to(below);
  return n;
}

APART void leave(int n, int how) {
  int below = enter(LEAVE);
  event(1);
  if (n == 0 && how) {
    thread_is_over();
    pthread_exit(0);
  }
  if (n == 0) {
    print();
    exit(0);
  }
  leave(n - 1, how);
  event(1);
  leave_to(below);
}

/* What a handler does is nothing of what it interrupts. */
static void handle(int signal) {
  long depths[COUNT], first = now;
  int below = height;
  memcpy(depths, depth, sizeof depth);
  memset(depth, 0, sizeof depth);
  long before[COUNT];
  memcpy(before, began, sizeof began);
  enter(HANDLE);
  factorial(3);
  even(2);
  leave_to(below);
  memcpy(depth, depths, sizeof depth);
  for (int function = 0; function < COUNT; function++) began[function] = before[function] + (now - first);
}

APART void *begin(void *argument) {
  int below = enter(BEGIN);
  even(4);
  factorial(4);
  if (argument) leave(3, 1);
  leave_to(below);
  thread_is_over();
  return 0;
}

/* The child has what is under way, and no event yet. */
APART void forks(int n) {
  int below = enter(FORK);
  event(1);
  if (n > 0) {
    forks(n - 1);
  } else {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      now = 0;
      memset(began, 0, sizeof began);
      memset(inclusive, 0, sizeof inclusive);
      memset(sums, 0, sizeof sums);
      event(3);
      factorial(2);
      leave(2, 0);
    }
    waitpid(child, 0, 0);
  }
  event(1);
  leave_to(below);
}

int main(int argc, char **argv) {
  signal(SIGUSR1, handle);
  factorial(6);
  even(7);
  odd(4);
  sort(2);
  chosen = visit;
  visit(7);
  chosen = factorial;
  visit(3);
  jump(4);
  jump(2);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, begin, i ? (void *)"exits" : 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  if (argc > 1 && !strcmp(argv[1], "fork")) forks(3);
  if (argc > 1 && !strcmp(argv[1], "exec")) {
    char *none[] = {"/nowhere/at/all", 0};
    execv(none[0], none);
  }
  if (argc > 1 && !strcmp(argv[1], "exit")) leave(5, 0);
  print();
  return 0;
}
