/* Frames of all shapes that die in the middle of a path: arguments on the stack, variable and aligned frames, functions that
   share a section. */
#include "tally.h"
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
static jmp_buf env;
static volatile int sink;
struct big {
    char c[300];
};
static void leave(int how) {
    if (how == 1) {
        T(1);
        longjmp(env, 1);
    }
    if (how == 2) {
        T(2);
        exit(9);
    }
    T(3);
}
static long many_arguments(int a, int b, int c, int d, int e, int f, long g, long h, long i, long j, double k, int how) {
    T(4);
    leave(how);
    return a + b + c + d + e + f + g + h + i + j + (long)k;
}
static int variadic(int how, ...) {
    va_list list;
    int sum = 0;
    T(5);
    va_start(list, how);
    for (int i = 0; i < 9; i++) sum += va_arg(list, int);
    va_end(list);
    leave(how);
    return sum;
}
static int by_value(struct big b, int how) {
    T(6);
    leave(how);
    return b.c[5];
}
/* Who is called is not known, so all arguments are passed. */
static long (*volatile call_many)(int, int, int, int, int, int, long, long, long, long, double, int) = many_arguments;
static int (*volatile call_variadic)(int, ...) = variadic;
static int (*volatile call_by_value)(struct big, int) = by_value;
__attribute__((noinline)) static int variable(int n, int how) {
    int sum = 0;
    if (n % 2) {
        T(7);
        sum++;
    }
    char *p = alloca(n * 16 + 1);
    memset(p, n, n * 16 + 1);
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0) {
            T(8);
            sum += p[i];
        } else {
            T(9);
            sink++;
        }
        T(10);
        sum += call_many(i, 1, 2, 3, 4, 5, 6, 7, 8, i, 1.5, i == 2 ? how : 0);
        T(11);
    }
    return sum;
}
__attribute__((noinline)) static int aligned(int n, int how) {
    _Alignas(64) char b[256];
    int sum = 0;
    memset(b, n, sizeof b);
    if (n % 3) {
        T(12);
        sink += 2;
    }
    char *p = alloca(n * 8 + 1);
    p[0] = 1;
    for (int i = 0; i < n; i++) {
        if (b[i] & 1) {
            T(13);
            sink++;
        } else {
            T(14);
            sink += 3;
        }
        if (i & 1) {
            T(15);
            sum += call_variadic(i == 3 ? how : 0, i, 2, 3, 4, 5, 6, 7, 8, 9);
        } else {
            struct big g = {{1}};
            T(16);
            g.c[5] = i;
            sum += call_by_value(g, i == 4 ? how : 0);
        }
        T(17);
        sum += p[0];
    }
    return sum;
}
__attribute__((section("together"), noinline)) static int first(int n, int how) {
    if (n % 2) {
        T(18);
        sink++;
    }
    return variable(n, how) + 1;
}
__attribute__((section("together"), noinline)) static int second(int n, int how) {
    if (n % 5) {
        T(19);
        sink--;
    }
    return aligned(n, how) + 1;
}
int main(void) {
    for (int i = 0; i < 40; i++) {
        T(20);
        if (setjmp(env) == 0) {
            if (i % 2) {
                T(21);
                sink += first(i % 9, i % 4 == 1);
            } else {
                T(22);
                sink += second(i % 11, i % 5 == 2);
            }
        } else {
            T(23);
        }
    }
    first(7, 2);
    T(24);
    return 0;
}
