// A hand-made link unit: what the linker plugin generates, for tests without LLVM.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifndef COUNTERS
#define COUNTERS 1024
#endif
extern uint64_t __cotree_counters[COUNTERS + 512] __attribute__((visibility("hidden")));
extern __thread uint64_t *__cotree_slab __attribute__((visibility("hidden"), tls_model("initial-exec")));
void __cotree_resuming(void) __attribute__((visibility("hidden")));
#ifdef __cplusplus
}
#endif

// An increment as generated code does it, and what stands at the beginning of functions that others may call.
#define ENTERED() ((void)0)
#if THREADED == 2
#define BUMP(k) __asm__ volatile("incq %%gs:%0" : "+m"(__cotree_counters[k]))
#undef ENTERED
#ifdef THREAD_WORD_COUNTER
#define ENTERED() ((void)(*(volatile uint64_t *)&__cotree_slab[THREAD_WORD_COUNTER])++)
#else
#define ENTERED() ((void)(*(volatile char *)&__cotree_slab[COUNTERS] = 1))
#endif
#elif THREADED == 1
#define BUMP(k) (*(volatile uint64_t *)&__cotree_slab[k])++
#else
#define BUMP(k) (*(volatile uint64_t *)&__cotree_counters[k])++
#endif

// The call site that follows a CALL is printed as "site NAME ADDRESS" (link-time address of the return address), for
// the test to find in the profile.
extern char __ehdr_start[] __attribute__((visibility("hidden")));
#ifdef NON_PIE
#define LINKED(p) ((unsigned long)(p))
#else
#define LINKED(p) ((unsigned long)(p) - (unsigned long)__ehdr_start)
#endif
#define SITE(name)                                                                                                     \
    do {                                                                                                               \
        char line_[96];                                                                                                \
        int n_ = snprintf(line_, sizeof line_, "site %s %lu\n", name, LINKED(__builtin_return_address(0)));            \
        if (write(1, line_, n_) != n_) abort();                                                                        \
    } while (0)
#define NOINLINE __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))
#include <unistd.h>
