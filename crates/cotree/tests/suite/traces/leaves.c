#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jmp_buf back;
static volatile int sink;
static const char *how;

static int is(const char *what) { return !strcmp(how, what); }

static int collatz(unsigned long n) {
  int steps = 0;
  while (n != 1) {
    if (n & 1) n = 3 * n + 1;
    else n /= 2;
    steps++;
  }
  return steps;
}

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  if (x < y) return -1;
  return x > y;
}

__attribute__((noinline)) static void leave(int depth) {
  if (depth > 0) {
    leave(depth - 1);
    sink++;
    return;
  }
  if (is("exit")) exit(3);
  if (is("_exit")) _exit(3);
  if (is("abort")) abort();
  if (is("jump")) longjmp(back, 1 + sink % 3);
}

static int kind(int n) {
  switch (n % 7) {
  case 0: return collatz(n + 1);
  case 1: return n;
  case 2:
  case 3: sink += n; break;
  case 5: {
    static void *const ways[] = {&&one, &&two, &&three};
    goto *ways[n % 3];
  one:
    sink++;
    return 1;
  two:
    sink += 2;
  three:
    return 3;
  }
  }
  return -n;
}

static int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

static void at_exit(void) { sink += collatz(27); }

int main(int argc, char **argv) {
  how = argc > 1 ? argv[1] : "return";
  atexit(at_exit);
  int sum = 0;
  for (int i = 1; i < 40; i++) sum += kind(i);
  if (is("callback")) {
    int numbers[50];
    for (int i = 0; i < 50; i++) numbers[i] = collatz(i + 1);
    qsort(numbers, 50, sizeof *numbers, compare);
    int key = 7;
    sum += bsearch(&key, numbers, 50, sizeof *numbers, compare) != 0;
  }
  if (is("recurse")) sum += ackermann(2, 3);
  for (int i = 0; i < 5; i++) {
    if (setjmp(back) == 0) leave(i);
    else sum += i;
  }
  int (*volatile pointer)(int) = kind;
  sum += pointer(12);
  printf("%d\n", sum);
  return 0;
}
