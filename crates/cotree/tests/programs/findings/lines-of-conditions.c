// Statements of several lines, which control leaves and comes back to: each line ran as often as its statement began.
volatile long sink;
__attribute__((noinline)) int even(long x) { return x % 2 == 0; }
__attribute__((noinline)) long add(long x, long y) { return x + y; }
__attribute__((noinline)) int either(long x) {
    return x == 1 // 20
           || x == 2 || x == 3; // 19
}
__attribute__((noinline)) int neither(long x) {
    return !(even(x) // 17
             || x == 3); // 8
}
__attribute__((noinline)) long loops(long n) {
    long i = 0; // 20
    long turns = 0;
    while (i < n // 210
           && i < 100) { // 190
        i++; // 190
    }
    for (i = 0; i < n || // 210
         i == 100; i++) {
        turns += i; // 190
    }
    do {
        turns++; // 26
    } while (turns < n * 2 // 26
             || turns == 10); // 20
    for (i = 0, turns = 7; // 210
         i < n && turns > 6;
         i++) {
        turns++;
    }
    return turns;
}
__attribute__((noinline)) long calls(long n) {
    long s = add(even(n) ? 1 : 2, // 20
                 even(n + 1) ? 3 : 4); // 20
    s += add(even(n) ? even(1) : even(2), even(n) // 20
                 ? even(n + 1) ? 3
                               : 4
                 : 5);
#define SEVEN 7
    if (even(n)
        && s != SEVEN) // 10
        s++;
over:
    if (s == 1000) goto over;
    return even(n) ? s : // 20
               add(s, 1); // 10
}
__attribute__((noinline)) long labels(long n) {
    switch (n) {
    case 0:
        if (sink == -1) goto again;
        sink += 2; // 1
        break; // 1
    case 1: case 2: case 3:
    again:
        sink += 3; // 3
        break; // 3
    case 4:
        break; // 1
    case 5:
        sink += 1; // 1
        break; // 1
    default: final:
        if (sink == -1) goto final; // 14
        sink -= 1;
    }
    return n;
}
int main(void) {
    for (long i = 0; i < 20; i++) {
        if (either(i) // 20
            || neither(i)) {
            sink += 1;
        }
        labels(i); // 20
        sink += loops(i) + // 20
                calls(i); // 20
    }
    return 0;
}
