// Calls without arguments that nothing shares a block with but the ways into it: what ends there early is known all the same.
#include <csetjmp>
#include <cstdio>
static jmp_buf back;
static volatile int number, out;
#define WAYS(x)                       \
    if (x & 1) asm volatile("nop");   \
    else asm volatile("nop; nop");    \
    if (x & 4) asm volatile("nop");
__attribute__((noinline)) static void leave() {
    if (number % 5 == 0) longjmp(back, 1);
    out = number;
}
__attribute__((noinline)) static int rethrown(int x) {
    WAYS(x)
    try {
        throw;
    } catch (int e) {
        if (e & 2) out = x;
    }
    return x;
}
static inline void inlined(int x) {
    WAYS(x)
    leave();
}
__attribute__((noinline)) static int left(int x) {
    WAYS(x >> 3)
    inlined(x);
    do {
        asm volatile("nop");
        if (x & 2) asm volatile("nop");
    } while (x-- & 7);
    return x;
}
int main() {
    for (volatile int i = 0; i < 1000; i = i + 1) {
        number = i;
        if (setjmp(back) == 0) left(i);
        try {
            throw (int)i;
        } catch (...) {
            rethrown(i);
        }
    }
    std::puts("done");
}
