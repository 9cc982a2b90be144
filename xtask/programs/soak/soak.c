/* The part of every program of the soak test that is not profiled: plain clang compiles it once. */
#include "soak.h"
#include <fcntl.h>

volatile unsigned long soak_tally[SOAK_SLOTS] __attribute__((aligned(4096)));
__thread long soak_fuel, soak_ending_in;
__thread sigjmp_buf *soak_target;
const char *soak_self;

__attribute__((constructor(101))) static void open_tally(void) {
  const char *name = getenv("SOAK_TALLY");
  int file = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;
  if (file < 0 || ftruncate(file, sizeof soak_tally) != 0) _exit(98);
  void *tally = (void *)soak_tally;
  if (mmap(tally, sizeof soak_tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != tally) _exit(97);
  close(file);
}

long soak_native(soak_piece piece, long n) { return piece(n) + 1; }

long soak_apart(soak_piece piece, long n, long fuel) {
  long ending_before = soak_ending_in;
  fuel = fuel < soak_fuel / 2 ? fuel : soak_fuel / 2;
  long fuel_left = soak_fuel - fuel;
  soak_fuel = fuel;
  soak_ending_in = 0;
  long s = soak_guarded(piece, n);
  soak_fuel = fuel_left;
  soak_ending_in = ending_before;
  return s;
}

long soak_number(long n) { return n; }
void soak_sink(const void *memory) { (void)memory; }
