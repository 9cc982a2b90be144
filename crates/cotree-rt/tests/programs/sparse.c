// Counters in the sparse part of a slab: they take room in the file page by page.
#include "unit.h"
#include "cotree.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
// Some words apart, so that pages that are written to alternate with others; each word gets its number.
#define FIRST 2000
#define STEP 5003
static void count(unsigned times) {
    for (unsigned k = FIRST; k < COUNTERS; k += STEP)
        for (unsigned t = 0; t < times; t++) BUMP(k);
    BUMP(COUNTERS - 1);
}
static void *thread(void *argument) {
    count(2);
    return argument;
}
__attribute__((constructor(101))) static void before(void) {
    if (getenv("EARLY")) count(1);
}
static volatile int handled;
static void on_bus(int signal) { handled += signal; }
int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "own")) {
        raise(SIGBUS); // The handler was there before the runtime's.
        return handled == SIGBUS ? 0 : 1;
    }
    BUMP(0);
    count(1);
    if (!strcmp(how, "threads")) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, NULL);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    }
    if (!strcmp(how, "fork")) {
        if (fork() == 0) {
            count(3);
            return 0;
        }
        wait(NULL);
    }
    // The kernel takes the pages away as if it needed the memory (MADV_PAGEOUT): only the file still has what was counted.
    if (!strcmp(how, "evict")) {
        char *slab = (char *)__cotree_slab;
        if (msync(slab, COUNTERS * 8, MS_SYNC) != 0 || madvise(slab, COUNTERS * 8, 21) != 0) return 1;
    }
    // No file can be opened any more, that of the counters and those of the kernel neither.
    if (!strcmp(how, "closed")) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_NOFILE, &none);
    }
    if (!strcmp(how, "exec")) {
        execl("/nowhere", "nowhere", (char *)0);
        count(1);
    }
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "bus")) raise(SIGBUS);
    if (!strcmp(how, "reset")) {
        cotree_reset();
        count(5);
    }
    if (!strcmp(how, "dump") && cotree_dump("named.cotree") != 0) return 1;
    puts("goes on");
    return 0;
}
// As a library loaded before the runtime starts would do it.
static void own_handler(int argc, char **argv, char **environment) {
    (void)environment;
    if (argc > 1 && !strcmp(argv[1], "own")) signal(SIGBUS, on_bus);
}
__attribute__((section(".preinit_array"), used)) static void (*const install)(int, char **, char **) = own_handler;
