// Jumps and an exit over frames whose size is known only at run time, which find their callers by rbp, between frames that use
// rbp for something else.
#include "unit.h"
#include <alloca.h>
#include <setjmp.h>
static jmp_buf buffer;
static int last;
static volatile char sink;
int descend(int n, long a, long b);
// Everything that callees preserve is in use, so the compiler has to save it.
NOINLINE int busy(int n, long a, long b) {
    long c = a * 3, d = b * 5, e = a ^ b, f = a + b, g = a - b;
    int result = descend(n - 1, c, d);
    __asm__ volatile("" ::"r"(c), "r"(d), "r"(e), "r"(f), "r"(g));
    return result + 1;
}
NOINLINE int sized(int n, long a, long b) {
    volatile char *room = alloca((size_t)(n % 7 + 1) * 24);
    room[0] = (char)a;
    int result = descend(n - 1, b, a);
    sink = room[0];
    return result + 1;
}
NOINLINE int descend(int n, long a, long b) {
    if (n == 0) {
        if (last) { SITE("end"); exit(0); }
        SITE("jump"); longjmp(buffer, 1);
    }
    return (n % 3 == 0 ? sized(n, a, b) : busy(n, a, b)) + 1;
}
int main(void) {
    BUMP(0);
    for (volatile int depth = 1; depth <= 40; depth++)
        if (setjmp(buffer) == 0) descend(depth, depth, 7);
    last = 1;
    return descend(40, 1, 2);
}
