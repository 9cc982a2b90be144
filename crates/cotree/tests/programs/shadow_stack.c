/* Recursion of every kind, with a stack of calls that the program keeps itself: per line, how often its call was made and how many
   allocations happened while the outermost of these calls was under way. With -DEACH_CALL
   every one of them counts. Nothing of cotree takes part in that. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline)) static
enum { LINES = 200, DEEPEST = 4096 };
static long now, calls[LINES], inclusive[LINES], began[LINES], depth[LINES];
static int stack[DEEPEST], height;
static long begun[DEEPEST];
static void *volatile kept;
static jmp_buf back;
static int saved;

APART void enter(int line) {
  calls[line]++;
  if (depth[line]++ == 0) began[line] = now;
  begun[height] = now;
  stack[height++] = line;
}
APART void leave_to(int below) {
  while (height > below) {
    int line = stack[--height];
#ifdef EACH_CALL
    inclusive[line] += now - begun[height];
#else
    if (--depth[line] == 0) inclusive[line] += now - began[line];
#endif
  }
}
APART void print(void) {
  leave_to(0);
  for (int line = 0; line < LINES; line++)
    if (calls[line]) printf("%d %ld %ld\n", line, calls[line], inclusive[line]);
}
/* Each call is alone on its line. */
#define CALL(call) ({ int below = height; enter(__LINE__); int result = (call); leave_to(below); result; })

APART void event(void) { now++; kept = malloc(1); }
APART int leaf(int n) { for (int i = 0; i < n; i++) event(); return n; }

/* Direct recursion, at two places of one function. */
APART int fib(int n) {
  event();
  if (n < 2) return n;
  int one = CALL(fib(n - 1));
  int two = CALL(fib(n - 2));
  return one + two;
}

/* Mutual recursion of three, entered at two places. */
static int even(int), odd(int);
APART int odd_or_even(int n) {
  if (n % 3) return CALL(odd(n));
  return CALL(even(n));
}
APART int even(int n) {
  leaf(2);
  return n == 0 ? 1 : CALL(odd_or_even(n - 1));
}
APART int odd(int n) {
  event();
  return n == 0 ? 0 : CALL(odd_or_even(n - 1));
}

/* Recursion by way of a pointer and of code that is not profiled. */
APART int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  event();
  if (x > 10) CALL(leaf(y));
  return x - y;
}
static int (*volatile chosen)(int);
APART int sort(int n) {
  int all[] = {5, 3, 12, 1, 20, 4};
  event();
  qsort(all, sizeof all / sizeof *all, sizeof *all, compare);
  if (n) CALL(sort(n - 1));
  chosen = n % 2 ? leaf : fib;
  return CALL(chosen(n + 3));
}

/* Recursion that is left at once. */
APART int dig(int n, int how) {
  event();
  if (n == 0) {
    if (how) longjmp(back, 1);
    print();
    exit(0);
  }
  int deeper = CALL(dig(n - 1, how));
  event();
  return deeper;
}
APART int jump(int n) {
  int below = height;
  saved = below;
  if (!setjmp(back)) CALL(dig(n, 1));
  else leave_to(saved);
  leaf(3);
  return n;
}

int main(int argc, char **argv) {
  CALL(fib(9));
  CALL(even(17));
  CALL(odd(12));
  CALL(sort(3));
  CALL(jump(5));
  CALL(jump(2));
  if (argc > 1) CALL(dig(4, 0));
  print();
  return 0;
}
