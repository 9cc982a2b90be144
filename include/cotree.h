/* cotree.h: what a program can ask of its own profile.
 *
 * A program that uses these functions compiles, links and runs without cotree too: the references are weak, and calls
 * do nothing where there is no profile. Each link unit (executable or shared library) speaks of its own profile.
 */
#ifndef COTREE_H
#define COTREE_H

/* Calls of it stay apart, so that their arguments stay constants. */
#ifdef __has_attribute
#if __has_attribute(nomerge)
#define COTREE_NOMERGE __attribute__((nomerge))
#endif
#endif
#ifndef COTREE_NOMERGE
#define COTREE_NOMERGE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a profile of the counts so far to the path, or with NULL to `NAME.snapshot-N.cotree` beside the profile
 * that the run will leave, N being 1, 2, ... The calls that are active on the calling thread's stack are accounted
 * for, so that the snapshot is as exact as a finished profile; it is flagged if other threads are alive.
 *
 * 0: written. 1: this program is not being profiled. -1: an error, see errno. Safe in signal handlers. */
extern int cotree_dump(const char *path) __attribute__((weak));

/* Sets all counts to zero, those of profiled shared libraries too if the executable calls it: the profile begins here.
 * The active calls of the calling thread are accounted for. Other threads should not be running: their active calls
 * are not. */
extern void cotree_reset(void) __attribute__((weak));

/* Reports n events of the calling thread: bytes allocated, comparisons, misses of a simulated cache, whatever the program
 * counts itself. A build with --profile path --path-metric events adds them up along paths: each path that is under way
 * on the thread, in whatever called this too, gets them all. Otherwise nothing comes of it. Safe in signal handlers. */
extern void cotree_events(unsigned long long n) __attribute__((weak));

/* In a build with --profile trace: the calling thread's recording begins, or pauses. A build with --trace-off begins without;
 * each thread speaks for itself. Safe in signal handlers. */
extern void cotree_trace_start(void) __attribute__((weak));
extern void cotree_trace_stop(void) __attribute__((weak));

/* Kinds of events (docs/events.md). */
enum {
  COTREE_INSTRUCTIONS = 0,
  COTREE_LOADS = 1,
  COTREE_STORES = 2,
  COTREE_CALLS = 3,
  COTREE_BRANCHES = 4,
  COTREE_FLOAT = 5,
  COTREE_ALLOCATIONS = 6,
  COTREE_SYSCALLS = 7,
  COTREE_COST = 8
};

/* In a build with --profile events: how many events of the kind the calling thread has had, exactly, through this call. They count
 * from the thread's beginning, cotree_reset or fork on. 0 for a kind that the build does not count, and
 * in a process that has no memory to count in. Safe in signal handlers; what
 * code had they interrupted lacks up to the events of a stretch of code there, unless the signal was raised by a call.
 *
 * Without cotree it is the constant 0 (`cotree cc` and `cotree c++` define __COTREE__). */
extern unsigned long long cotree_event_count(int kind) __attribute__((weak));

/* In a build with --profile events-calls: how many events of the kind the calls on a line have led to so far in the
 * calling thread, exactly: the line of the file in which the query stands, as debug information says. A call that is under way
 * counts up to now, and a recursive one once, as in the report. Copies of the line in other functions of the link unit
 * are added. The line must be a constant (__LINE__ - 2): the link fails if it is none, or if no call there is measured.
 * Counts begin as those of cotree_event_count do, and kinds mean the same.
 *
 * In other builds, and without cotree, it is 0. */
extern unsigned long long cotree_event_call_count(int kind, int line) __attribute__((weak)) COTREE_NOMERGE;

/* How many events of the kind all threads have had, those that are gone, too, in the code of all link units that count
 * it, unloaded libraries among them, since the program's beginning, cotree_reset or fork. The calling thread's part is
 * exact as cotree_event_count is. Of each other thread that runs at the same time it is what has been counted: up to
 * the events of a stretch of code more or less. Safe in signal handlers. */
extern unsigned long long cotree_event_count_total(int kind) __attribute__((weak));

/* In a build with --profile events and --event-limit: calls back at the first safe point at which the calling thread has had n events
 * of the kind or more, as cotree_event_count has them. Safe points are where loops begin a turn, and where functions begin that
 * may recur. The limit is gone then; the callback may set the next one, jump (longjmp), or throw. Each thread has one limit per kind; a new one
 * takes the place of the old; a null callback removes it. A forked child has none.
 *
 * 0: done. 1: this kind is not counted, or the process has no profile. 2: built without --event-limit. Safe in signal handlers. */
extern int cotree_event_limit(int kind, unsigned long long n, void (*callback)(void)) __attribute__((weak));

/* As cotree_event_limit, of what all threads have had together in the code of all link units, as
 * cotree_event_count_total has it: calls back once, in the thread that finds it, at its first safe point. Until then
 * other threads may get as far as their next safe points. There is one such limit per kind, beside those of threads. Link units without --event-limit
 * have no safe points: what they count is found at those of others. */
extern int cotree_event_limit_total(int kind, unsigned long long n, void (*callback)(void)) __attribute__((weak));

/* Without a runtime the functions are null. */
#define cotree_dump(path) (cotree_dump ? cotree_dump(path) : 1)
#define cotree_reset() (cotree_reset ? cotree_reset() : (void)0)
#define cotree_events(n) (cotree_events ? cotree_events(n) : (void)0)
#define cotree_trace_start() (cotree_trace_start ? cotree_trace_start() : (void)0)
#define cotree_trace_stop() (cotree_trace_stop ? cotree_trace_stop() : (void)0)
#ifdef __COTREE__
#define cotree_event_count(kind) (cotree_event_count ? cotree_event_count(kind) : 0ULL)
#define cotree_event_count_total(kind) (cotree_event_count_total ? cotree_event_count_total(kind) : 0ULL)
#define cotree_event_call_count(kind, line) (cotree_event_call_count ? cotree_event_call_count(kind, line) : 0ULL)
#define cotree_event_limit(kind, n, callback) (cotree_event_limit ? cotree_event_limit(kind, n, callback) : 1)
#define cotree_event_limit_total(kind, n, callback) \
  (cotree_event_limit_total ? cotree_event_limit_total(kind, n, callback) : 1)
#else
#define cotree_event_count(kind) ((void)(kind), 0ULL)
#define cotree_event_count_total(kind) ((void)(kind), 0ULL)
#define cotree_event_call_count(kind, line) ((void)(kind), (void)(line), 0ULL)
#define cotree_event_limit(kind, n, callback) ((void)(kind), (void)(n), (void)(callback), 1)
#define cotree_event_limit_total(kind, n, callback) ((void)(kind), (void)(n), (void)(callback), 1)
#endif

#ifdef __cplusplus
}
#endif
#endif
