// The unit object; compiled with -DUNIT_THREADED=0, 1 or 2, -DUNIT_EXECUTABLE=0 or 1, -DUNIT_NAME="…".
#include <stdint.h>
#ifndef COUNTERS
#define COUNTERS 1024
#endif
#ifndef UNIT_CACHES
#define UNIT_CACHES 0
#endif
#ifndef UNIT_PATH_WORDS
#define UNIT_PATH_WORDS COUNTERS
#endif
#ifndef THREAD_WORD_COUNTER
#define THREAD_WORD_COUNTER 0
#endif
static const uint64_t thread_word_counters = THREAD_WORD_COUNTER;
uint64_t __cotree_counters[COUNTERS + 512] __attribute__((aligned(4096), visibility("hidden")));
__thread uint64_t *__cotree_slab __attribute__((visibility("hidden"), tls_model("initial-exec"))) = __cotree_counters;
const struct {
    uint32_t abi, threaded;
    uint8_t id[16];
    uint64_t *counters;
    uint64_t counter_count, early_capacity;
    const char *name;
    uint32_t executable, counts_paths;
    uint64_t cache_count, register_functions;
    const uint32_t *register_index;
    const void *register_returns;
    const uint64_t *register_values;
    uint64_t path_words;
    uint32_t path_metric, handlers_foreseen;
    uint64_t thread_word_counter_count;
    const uint64_t *thread_word_counters;
    uint64_t trace_word, trace_ring, trace_off;
    uint64_t event_kinds, event_words, query_words, event_limits;
    uint64_t call_sums, handler_words;
    uint64_t outermost_words, outermost_count, outermost_sums, most_hidden, addressee_word;
    const char *file_pattern;
    uint64_t outermost_bases, queried_lines;
    const uint32_t *queried_index, *queried_words;
} __cotree_unit __attribute__((visibility("hidden"))) = {
    2, UNIT_THREADED, {0xAB, 1, 2, 3}, __cotree_counters, COUNTERS, 256, UNIT_NAME, UNIT_EXECUTABLE, UNIT_CACHES > 0, UNIT_CACHES, 0, 0, 0, 0,
    UNIT_PATH_WORDS, 0, 1, THREAD_WORD_COUNTER > 0, &thread_word_counters};
