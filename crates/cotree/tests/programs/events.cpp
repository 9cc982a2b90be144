// Events of paths that exceptions take, and the program's own tally of each function.
#include "../../../../include/cotree.h"
#include <cstdio>
typedef unsigned long long u64;
static u64 total, in_catches, in_nested;
__attribute__((noinline)) static void report(u64 n) { total += n; cotree_events(n); }
struct Guard { ~Guard() { report(1000); } };
__attribute__((noinline)) static int may_throw(int i) {
    Guard guard;
    report(i);
    if (i % 3 == 0) throw i;
    if (i % 3 == 1) throw "text";
    return i;
}
__attribute__((noinline)) static int catches(int n) {
    u64 before = total;
    int sum = 0;
    for (int i = 0; i < n; i++) {
        try {
            sum += may_throw(i);
            report(2);
            sum += may_throw(i + 1);
        } catch (int thrown) {
            report(3);
            sum += thrown;
        } catch (const char *) {
            report(5);
        }
    }
    in_catches += total - before;
    return sum;
}
// Exceptions go through, and on.
__attribute__((noinline)) static int nested(int i) {
    Guard guard;
    report(7);
    return may_throw(i) + 1;
}
__attribute__((noinline)) static int around(int n) {
    u64 before = total;
    int sum = 0;
    for (int i = 0; i < n; i++)
        try { sum += nested(i); } catch (...) { sum--; }
    in_nested += total - before;
    return sum;
}
int main() {
    int sum = catches(100) + around(50);
    std::printf("%llu %llu %llu %d\n", in_catches, in_nested, total, sum);
}
