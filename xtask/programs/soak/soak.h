/* What every program of the soak test shares: its tally, and how its pieces call each other.

   The tally is memory that all processes of a run share. Slot k counts how often one line ran; nothing else writes to it. */
#ifndef SOAK_H
#define SOAK_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __cplusplus
extern "C" {
#endif

#define SOAK_SLOTS 65536
extern volatile unsigned long soak_tally[SOAK_SLOTS];
#define T(k) __atomic_fetch_add(&soak_tally[k], 1, __ATOMIC_RELAXED)
#define N(k, n) __atomic_fetch_add(&soak_tally[k], (n), __ATOMIC_RELAXED)

typedef long (*soak_piece)(long);

/* How many more pieces this thread may enter. It is what ends every recursion. */
extern __thread long soak_fuel;
/* Entries are counted, so no piece is inlined or made a loop of. */
#define PIECE __attribute__((noinline, disable_tail_calls))
#define SPEND() do { if (--soak_fuel < 0) return n; } while (0)

/* The thread with a positive number here ends the process when it has counted it down. */
extern __thread long soak_ending_in;
#define ENDING() do { if (soak_ending_in > 0 && --soak_ending_in == 0) soak_end(); } while (0)
void soak_end(void);

/* Where this thread may jump to, if anywhere. */
extern __thread sigjmp_buf *soak_target;

/* Calls a piece so that no jump and no exception comes out of it. */
long soak_guarded(soak_piece piece, long n);

/* Calls a piece like soak_guarded, with at most that much fuel, and never ends there: for handlers and children. */
long soak_apart(soak_piece piece, long n, long fuel);

/* Calls a piece from code that is not profiled. */
long soak_native(soak_piece piece, long n);

/* The name of this program, to run it again. */
extern const char *soak_self;

/* Numbers that no optimiser knows. */
long soak_number(long n);
void soak_sink(const void *memory);

#ifdef __cplusplus
}
#endif
#endif
