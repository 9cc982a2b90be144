#include "regions.h"
#include <stdio.h>
#include <stdlib.h>

int failures;
int other(int x);

static int with_body(int x) {
#include "body.inc"
#if 0
  left out, and so is this
#endif
  x++;
#ifdef NEVER
  x--;
#else
  x *= 2;
#endif
  return x;
}

static int loops(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (i == 2) continue;
    if (i > 6 && sum > 3 || n == 100) break;
    sum += i;
  }
  while (n-- > 0) { sum++; if (sum > 1000) goto out; }
  do sum--; while (sum > 20);
out:
  switch (sum) {
    case 1: case 2: return 1;
    case 20: sum++; /* falls through */
    case 3: sum++; break;
    default: if (sum < 0) abort();
  }
  return sum ? sum : -1;
}

int never_called(int a, int b) { return a && b ? a : b; }

static void ends(int code) {
  if (code > 1)
    exit(code);
  puts("here");
}

int main(int argc, char **argv) {
  int sum = with_body(argc) + loops(argc + 8) + loops(3) + TWICE(argc);
  CHECK(sum > 0); CHECK(argc > 5 || (sum > 3 && argv));
  sum += other(4) +
         other(5);
  while (1) { if (sum++ > 40) break; }
  ends(1);
  printf("%d %d\n", sum, failures);
  return 0; }
