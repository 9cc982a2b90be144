// An independent log of every address: clang calls these functions, which are not profiled, before each load and store. The file in
// ADDRESS_LOG has two logs for each thread: what it accesses, and what its signal handlers do on their stack. A forked child has a file
// of its own.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef ENTRIES
#define LOGS 16
#define ENTRIES (1 << 16)
#endif
struct log {
  uint64_t count;
  struct { uint64_t address; uint32_t is_store, size; } entries[ENTRIES];
};
static struct log *logs;
static int threads;
static long process;
static __thread int number;
static __thread char *handlers, *handlers_end;

static void open_log(const char *suffix) {
  char name[4096];
  if (!getenv("ADDRESS_LOG")) return;
  snprintf(name, sizeof name, "%s%s", getenv("ADDRESS_LOG"), suffix);
  int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
  if (file < 0 || ftruncate(file, LOGS * sizeof *logs)) return;
  process = syscall(SYS_getpid);
  logs = mmap(0, LOGS * sizeof *logs, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
}

__attribute__((constructor(101))) static void begin(void) { open_log(""); }

/// Signal handlers of this thread run on this stack.
void log_handlers(char *stack, unsigned long size) { handlers = stack, handlers_end = stack + size; }

static void add(void *address, int is_store, int size) {
  if (!logs) return;
  if (process != syscall(SYS_getpid)) {
    threads = number = 0;
    open_log(".child");
  }
  if (!number) number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  char *frame = __builtin_frame_address(0);
  struct log *log = &logs[2 * (number - 1) + (frame >= handlers && frame < handlers_end)];
  if (log->count == ENTRIES) return;
  log->entries[log->count].address = (uintptr_t)address;
  log->entries[log->count].is_store = is_store;
  log->entries[log->count].size = size;
  __atomic_store_n(&log->count, log->count + 1, __ATOMIC_RELEASE);
}

#define CALLBACKS(size)                                                         \
  void __sanitizer_cov_load##size(void *address) { add(address, 0, size); }    \
  void __sanitizer_cov_store##size(void *address) { add(address, 1, size); }
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)
