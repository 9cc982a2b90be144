// An independent log of every block: clang calls these functions, which are not profiled, where each block begins. The file in
// BLOCK_LOG gets how many there were, and then the number of each.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS (1u << 24)
static uint32_t *words;

__attribute__((constructor(101))) static void open_log(void) {
  const char *name = getenv("BLOCK_LOG");
  int file = name ? open(name, O_RDWR | O_CREAT | O_TRUNC, 0666) : -1;
  if (file < 0 || ftruncate(file, WORDS * 4ul)) return;
  words = mmap(0, WORDS * 4ul, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *guard, uint32_t *end) {
  static uint32_t number;
  for (; guard < end; guard++) *guard = ++number;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
  if (words && words[0] + 1 < WORDS) words[++words[0]] = *guard;
}
