// Reports events and keeps its own tally: what each function's activations saw between their beginnings and ends, and what
// went with each of the ways through `way`, whose lines are marked.
#define _GNU_SOURCE
#include "../../../../include/cotree.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
// An instruction of its own, so that the line stays on the path.
#define MARK(k) ({ __asm__ volatile("# " #k); k; })
typedef unsigned long long u64;
static __thread u64 total;
static u64 ways[4], in_jumps;
#define NOINLINE __attribute__((noinline))
static void report(u64 n) {
    total += n;
    cotree_events(n);
}
// Four paths; a loop of one block in one of them; calls in tail position in another.
NOINLINE static void way(u64 i, int k) {
    u64 before = total;
    if (k == 0) {
        report(MARK(1));
    } else if (k == 1) {
        report(MARK(2) * i);
        report(7);
    } else if (k == 2) {
        volatile u64 turn = i % 5 + 1;
        do cotree_events(MARK(3)), total += MARK(3); while (--turn);
    } else {
        __atomic_fetch_add(&ways[3], MARK(4) * i, __ATOMIC_RELAXED);
        report(MARK(4) * i);
        return;
    }
    __atomic_fetch_add(&ways[k], total - before, __ATOMIC_RELAXED);
}
NOINLINE static u64 tail(u64 i) { report(i); return i; }
// Its last call would be a jump otherwise.
NOINLINE static u64 caller(u64 i) { return tail(i + 1); }
NOINLINE static void *work(void *p) {
    for (u64 i = 0; i < 300; i++) way(i + (u64)p, (int)(i % 4)), caller(i);
    return p;
}
static jmp_buf back;
NOINLINE static void deep(int n, int leave) {
    report(1);
    if (n) deep(n - 1, leave);
    else if (leave == 1) longjmp(back, 1);
    else if (leave == 2) exit(0);
    report(1);
}
// What was reported before the jump is on the path that goes on where `setjmp` returned again.
NOINLINE static int jumps(void) {
    u64 before = total;
    volatile int rounds = 0;
    report(3);
    if (setjmp(back) < 1) report(10);
    rounds++;
    if (rounds < 5) deep(3, 1);
    report(5);
    in_jumps += total - before;
    return rounds;
}
static void handler(int signal) { (void)signal; report(1000); }
NOINLINE static void interrupted(void) { raise(SIGUSR1); }
int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    u64 began = __builtin_ia32_rdtsc();
    if (!strcmp(how, "threads")) {
        pthread_t t[4];
        for (u64 i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    }
    work(0);
    if (!strcmp(how, "jump")) jumps();
    if (!strcmp(how, "signal")) {
        signal(SIGUSR1, handler);
        for (int i = 0; i < 3; i++) interrupted();
    }
    if (!strcmp(how, "fork")) {
        if (fork() == 0) { deep(2, 0); _exit(0); }
        wait(0);
    }
    if (!strcmp(how, "reset")) {
        cotree_reset();
        memset(ways, 0, sizeof ways);
        work(0);
    }
    u64 elapsed = __builtin_ia32_rdtsc() - began;
    printf("%llu %llu %llu %llu %llu %llu\n", ways[0], ways[1], ways[2], ways[3], in_jumps, elapsed);
    fflush(stdout);
    if (!strcmp(how, "exit")) deep(4, 2);
    return 0;
}
