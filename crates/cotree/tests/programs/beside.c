/* Linked to each of the other programs where modules are compiled as one: it has functions and variables of their names, which are its own,
   and is at work before and after them. */
static volatile long sink;
static long done;

__attribute__((noinline)) static long leaf(long x) {
    long sum = 0;
    for (long i = 0; i < x; i++) sum += i & x;
    return sum;
}

static long work(long x) { return x > 1 ? work(x - 1) + leaf(x) : x; }

__attribute__((constructor)) static void before(void) { sink = work(9); }

__attribute__((destructor)) static void after(void) { done += work(5) + sink; }
