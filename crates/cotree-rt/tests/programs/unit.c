// The unit object; compiled with -DTHREADED=0 or 1, -DEXECUTABLE=0 or 1, -DNAME="…".
#include <stdint.h>
#define COUNTERS 1024
uint64_t __cotree_counters[COUNTERS] __attribute__((aligned(4096), visibility("hidden")));
__thread uint64_t *__cotree_slab __attribute__((visibility("hidden"), tls_model("initial-exec"))) = __cotree_counters;
const struct {
    uint32_t abi, threaded;
    uint8_t id[16];
    uint64_t *counters;
    uint64_t counter_count, early_capacity;
    const char *name;
    uint32_t executable, reserved;
} __cotree_unit __attribute__((visibility("hidden"))) = {
    1, UNIT_THREADED, {0xAB, 1, 2, 3}, __cotree_counters, COUNTERS, 256, UNIT_NAME, UNIT_EXECUTABLE, 0};
