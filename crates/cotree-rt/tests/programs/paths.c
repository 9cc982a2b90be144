// Paths counted in hash tables as generated code does it: many keys, from threads, a signal handler and a forked child.
#define _GNU_SOURCE
#include "unit.h"
#include "../../../../include/cotree.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
struct bucket { uint64_t function, path, count, metric; };
static uint64_t *slab(void) {
#if THREADED
    return __cotree_slab;
#else
    return __cotree_counters;
#endif
}
// As support.rs says.
#define CACHES 4
// Some functions have a metric, and some have not.
#define SUMMED(function) ((function) % 2 == 1)
// The compiler takes this for a leaf function, whose stack need not be aligned.
#define ASK(stub)                                                                                                     \
    __asm__ volatile("mov %%rsp, %%rbx; and $-16, %%rsp; call " stub "; mov %%rbx, %%rsp"                              \
                     : : "D"(function), "S"(path), "d"(COUNTERS + function), "c"(amount)                               \
                     : "rbx", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",    \
                       "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")
static void count(uint64_t function, uint64_t path) {
    uint64_t *zeros = &slab()[COUNTERS + CACHES + 2];
    struct bucket *last = (void *)((char *)zeros + *(volatile uint64_t *)&slab()[COUNTERS + function]);
    uint64_t amount = path % 4 + 1;
    path++;
    if (*(volatile uint64_t *)&last->path == path) {
        __asm__ volatile("incq %0" : "+m"(last->count));
        if (SUMMED(function)) __asm__ volatile("addq %1, %0" : "+m"(last->metric) : "r"(amount));
    } else if (SUMMED(function)) {
        ASK("__cotree_path_metric");
    } else {
        ASK("__cotree_path");
    }
}
// Before the runtime has started.
static void very_early(void) { count(2, 77); }
__attribute__((section(".preinit_array"), used)) static void (*const before)(void) = very_early;

static void many(uint64_t from) {
    for (uint64_t i = 0; i < 30000; i++) {
        count(0, from + i % 10000 * 3);
        if (i % 3 == 0) count(1, (uint64_t)1 << 62 | i % 2);
        BUMP(1);
    }
}
static void *thread(void *p) { many((uint64_t)p); return 0; }
static volatile sig_atomic_t signals;
static void handler(int signal) {
    count(3, signals++ % 50);
    count(0, 1u << 30 | signals);
}
int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "full") || !strcmp(how, "full-data")) {
        struct rlimit limit = {0, RLIM_INFINITY};
        limit.rlim_cur = argc > 2 ? atol(argv[2]) : 40960;
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    // The program's own file where standard error was.
    if (!strcmp(how, "full-data") && (close(2) || open("data", O_RDWR | O_CREAT, 0600) != 2 || write(2, "data", 4) != 4)) return 9;
    if (!strcmp(how, "confined")) {
        unsigned long pages;
        FILE *sizes = fopen("/proc/self/statm", "r");
        if (!sizes || fscanf(sizes, "%lu", &pages) != 1) return 9;
        fclose(sizes);
        struct rlimit limit = {0, RLIM_INFINITY};
        limit.rlim_cur = pages * 4096 + atol(argv[2]);
        setrlimit(RLIMIT_AS, &limit);
    }
    many(0);
    if (!strcmp(how, "threads")) {
        for (int round = 0; round < 2; round++) {
            pthread_t t[4];
            for (uint64_t i = 0; i < 4; i++) pthread_create(&t[i], 0, thread, (void *)(i % 2 << 40));
            for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
        }
    } else if (!strcmp(how, "fork")) {
        int child = fork();
        if (child == 0) { count(3, 1); many(7); return 0; }
        waitpid(child, 0, 0);
    } else if (!strcmp(how, "signals")) {
        signal(SIGALRM, handler);
        struct itimerval every = {{0, 50}, {0, 50}};
        setitimer(ITIMER_REAL, &every, 0);
        int rounds = 1;
        for (; signals < 2000; rounds++) many(0);
        every = (struct itimerval){{0, 0}, {0, 0}};
        setitimer(ITIMER_REAL, &every, 0);
        printf("%d %d\n", rounds, signals);
    } else if (!strcmp(how, "killed")) {
        raise(SIGKILL);
    } else if (!strcmp(how, "reset")) {
        cotree_reset();
        count(0, 5);
        cotree_dump("snapshot.cotree");
        count(0, 5);
    } else if (!strcmp(how, "exec")) {
        execl("/nowhere", "nowhere", (char *)0);
        many(0);
    }
    return 0;
}
