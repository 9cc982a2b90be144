// Logs every block of its own: `B(k);` alone on a line is block k of its function, numbered so that only backedges go to
// a number that is not higher. (`while` stands on a line without one: the jump back is there.) `tests/paths.rs` splits
// the log into paths and compares with what was profiled.
#include <stdio.h>
#include <stdlib.h>

struct entry {
  unsigned activation, function, block;
};
static struct entry *entries;
static unsigned used, activations;

static void write_log(void) {
  FILE *file = fopen("log.bin", "wb");
  if (!file || fwrite(entries, sizeof *entries, used, file) != used || fclose(file))
    abort();
}

#define FUNCTION(number) unsigned activation = ++activations, function = number
#define B(k)                                                                                                           \
  (entries[used].activation = activation, entries[used].function = function, entries[used++].block = (k))

static unsigned state = 1;
static unsigned next(unsigned bound) { return (state = state * 1664525 + 1013904223) / 65536 % bound; }

// Two loops in one another, left and continued in the middle.
static unsigned nested(unsigned rows, unsigned columns) {
  FUNCTION(1);
  unsigned sum = 0;
  B(1);
  for (unsigned i = 0;
       B(2),
       i < rows;
       B(14),
       i++) {
    if (B(3),
        next(4) == 0) {
      B(4);
      continue;
    }
    for (unsigned k = 0;
         B(5),
         k < columns;
         B(12),
         k++) {
      B(6);
      if (next(3) == 0)
        B(7);
      else
        B(8);
      if (B(9),
          next(6) == 0) {
        B(10);
        break;
      }
      B(11);
      sum += k;
    }
    B(13);
  }
  B(15);
  return sum;
}

// A switch with a case that falls through, conditions that stop half-way, a loop with the test last.
static unsigned chosen(unsigned which) {
  FUNCTION(2);
  unsigned sum = 0;
  B(1);
  switch (which % 5) {
  case 0:
    B(2);
    sum = 1;
    // fall through
  case 1:
    B(3);
    sum += 2;
    break;
  case 2:
    B(4);
    return 7;
  default:
    B(5);
  }
  if ((B(6),
       next(2)) &&
      (B(7),
       next(2)))
    B(8);
  else
    B(9);
  do {
    B(10);
    sum++;
    if (next(5) == 0)
      goto out;
  } while (
      B(11),
      next(3));
out:
  B(12);
  return sum;
}

// Recursive; at the bottom the program may end.
static unsigned down(unsigned depth, int leave) {
  FUNCTION(3);
  unsigned sum = 0;
  B(1);
  while (
      B(2),
      depth > 0) {
    B(3);
    if (next(3) && down(depth - 1, leave) > 1)
      B(4);
    else
      B(5);
    sum++;
    depth--;
  }
  if (B(6),
      leave && next(9) == 0) {
    B(7);
    exit(0);
  }
  B(8);
  return sum;
}

int main(int argc, char **argv) {
  entries = malloc(sizeof *entries << 20);
  if (!entries || atexit(write_log))
    return 1;
  FUNCTION(4);
  unsigned sum = 0;
  B(1);
  for (unsigned i = 0;
       B(2),
       i < 40;
       B(6),
       i++) {
    B(3);
    sum += nested(next(5), next(6)) + chosen(i);
    if (down(next(6), argc > 1) > 2)
      B(4);
    else
      B(5);
  }
  B(7);
  return sum == 0;
}
