// Counters far apart, some of them bumped before the runtime has started.
#include "unit.h"
#include <sys/resource.h>
static void very_early(void) {
    BUMP(0);
    BUMP(COUNTERS / 2);
    BUMP(COUNTERS / 2);
    BUMP(COUNTERS - 1);
}
__attribute__((section(".preinit_array"), used)) static void (*const before)(void) = very_early;
int main(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    ENTERED();
    BUMP(1);
    BUMP(COUNTERS / 2);
    printf("faults %ld\n", usage.ru_minflt);
    return 0;
}
