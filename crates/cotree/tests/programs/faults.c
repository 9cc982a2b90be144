/* Each way of faulting, in the middle of a block: the line of a function's name ran, and the line behind it never did. */
#include <stdlib.h>
#include <string.h>
struct big { long word[40]; };
struct small { long a, b; };
struct bits { unsigned low : 3, high : 7; };
static volatile int before, after;
static int table[8];
static inline __attribute__((always_inline)) int inlined(int *p) { before = 1; int v = *p; after = 1;
  return v; }
static void load(int *p) { before = 1; after = *p;
  after = 2; }
static void store(int *p) { before = 1; *p = 1;
  after = 1; }
static void division(int *p) { before = 1; before /= (p ? *p : 0);
  after = 1; }
static void remainder_of(long *p) { long zero = (long)p; before = 1; after = (int)(5 % zero);
  after = 1; }
static void copy(struct big *p) { struct big b; before = 1; b = *p;
  after = (int)b.word[3]; }
static void copy_small(struct small *p) { struct small s = {1, 2}; before = 1; *p = s;
  after = 1; }
static void move(char *p) { char text[64] = "x"; before = 1; memcpy(p, text, 63);
  after = 1; }
static void clear(char *p) { before = 1; memset(p, 0, 4000);
  after = 1; }
static void length(char *p) { before = 1; after = (int)strlen(p);
  after = 1; }
static void element(long *p) { before = 1; after = table[(1L << 40) + (long)p];
  after = 1; }
static void floating(double *p) { before = 1; *p += 1.5;
  after = 1; }
static void wide(__int128 *p) { before = 1; *p += 1;
  after = 1; }
static void field(struct bits *p) { before = 1; p->high = 3;
  after = 1; }
static void atomic(int *p) { before = 1; __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST);
  after = 1; }
static void trap(int *p) { before = 1; if (!p) __builtin_trap();
  after = 1; }
static void in_loop(int *p) { for (int i = 0; i < 10; i++) { before = i; if (i == 7) { after = *p; }
    after = i; } }
static void copied(int *p) { before = 1; after = inlined(p);
  after = 2; }
static void aggregate(long double *p) { before = 1; *p = 1;
  after = 1; }
typedef void (*way)(void *);
static const way ways[] = {(way)load, (way)store, (way)division, (way)remainder_of, (way)copy, (way)copy_small, (way)move, (way)clear,
  (way)length, (way)element, (way)floating, (way)wide, (way)field, (way)atomic, (way)trap, (way)in_loop, (way)copied, (way)aggregate};
int main(int argc, char **argv) {
  unsigned number = (unsigned)atoi(argv[1]);
  if (argc > 2) return sizeof ways / sizeof *ways;
  ways[number](0);
  return 0;
}
