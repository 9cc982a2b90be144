/* Goes round until it is killed, or ends as it is told after so many turns: killed HOW TURNS [THREADS]. `L` stands before any call
   of its block. */
#define LOGS 4
#include "line_log.h"
#include <pthread.h>
#include <string.h>

#define NI __attribute__((noinline))
static const char *how;
static unsigned long turns;
static int *volatile nowhere;
/* So that the loop is not unrolled. */
static volatile int items = 6;
static __thread uint64_t state;
static __thread volatile int sink;

static inline __attribute__((always_inline)) unsigned draw(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33);
}

NI static int leaf(unsigned n) {
  L;
  int sum = 0;
  while (n) {
    L;
    if (n & 1) {
      L;
      sum += 3;
    } else {
      L;
      sum ^= (int)n;
    }
    n >>= 1;
  }
  L;
  return sum;
}

NI static int compare(const void *a, const void *b) {
  L;
  int x = *(const int *)a, y = *(const int *)b;
  if (x < y) {
    L;
    return -1;
  }
  L;
  return x > y;
}

NI static int sorted(void) {
  L;
  int numbers[6];
  for (int i = 0; i < items; i++) {
    L;
    numbers[i] = (int)(draw() % 100);
  }
  L;
  qsort(numbers, 6, sizeof *numbers, compare);
  return numbers[2];
}

NI static int deep(unsigned n) {
  L;
  if (n == 0) {
    L;
    return leaf(draw() % 16);
  }
  L;
  int below = deep(n - 1);
  if (below & 1) {
    L;
    return below + 1;
  }
  L;
  return below / 2;
}

NI static int way(unsigned n) {
  L;
  switch (n % 6) {
  case 0:
    L;
    return 1;
  case 1:
    L;
    sink += 2;
    break;
  case 2:
    L;
    sink += 3;
    __attribute__((fallthrough));
  case 3:
    L;
    sink ^= 5;
    break;
  case 4:
    L;
    return leaf(n % 64);
  default:
    L;
    break;
  }
  L;
  return sink & 7;
}

NI static void fault(unsigned n) {
  L;
  if (n % 2) {
    L;
    sink++;
  }
  L;
  sink += *nowhere;
  L;
  sink++;
}

NI static void end(void) {
  L;
  if (!strcmp(how, "fault")) {
    L;
    fault(draw());
  }
  L;
  if (!strcmp(how, "abort")) {
    L;
    abort();
  }
  L;
  if (!strcmp(how, "kill")) {
    L;
    for (;;) pause();
  }
  L;
  exit(3);
}

NI static void turn(void) {
  L;
  unsigned n = draw();
  sink += way(n / 8);
  if (n % 3 == 0) {
    L;
    sink += deep(n % 7);
  }
  L;
  if (n % 5 == 0) {
    L;
    sink += sorted();
  }
}

NI static void *go_round(void *seed) {
  line_log = line_logs + (long)seed;
  L;
  state = 0x9e3779b97f4a7c15u * (1 + (uint64_t)(long)seed);
  for (unsigned long i = 0; i < turns; i++) {
    L;
    turn();
  }
  L;
  end();
  return seed;
}

int main(int argc, char **argv) {
  L;
  how = argv[1];
  turns = strtoul(argv[2], 0, 10);
  long threads = argc > 3 ? atol(argv[3]) : 0;
  for (long i = 1; i <= threads; i++) {
    L;
    pthread_t thread;
    pthread_create(&thread, 0, go_round, (void *)i);
  }
  L;
  go_round(0);
}
