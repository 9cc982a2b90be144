// Calls through pointers of all kinds, each of which has a usual target: virtual ones, such that throw, such with large arguments and
// results, such with as many arguments as it pleases, such of a type that the target does not have, and such that must be jumps. The
// argument says how many rounds there are, a second one that the usual targets are others.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#define ALONE __attribute__((noinline)) static

struct Large { long word[6]; };
struct Shape {
    virtual ~Shape() {}
    virtual long area(long x) = 0;
};
struct Square : Shape { long area(long x) override { return x * 0x12345677; } };
struct Circle : Shape { long area(long x) override { return x * x * 3; } };
struct Both : Square { virtual long other(long x) { return x; } long area(long x) override { return Square::area(x) + 1; } };

static long plus(long x) { return x + 0x1357135; }
static long throws(long x) { if (x % 3 == 0) throw x; if (x % 7 == 0) throw std::runtime_error("seven"); return x ^ 2; }
static Large grow(Large large) { for (long &word : large.word) word = word * 3 + 1; return large; }
static Large shrink(Large large) { for (long &word : large.word) word /= 2; return large; }
static long add_all(int count, ...) {
    va_list list; long sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++) sum += va_arg(list, long);
    va_end(list);
    return sum;
}
static long first_only(int count, ...) { return count; }
static int narrow(int x) { return x / 3; }
static void nothing(long) {}
static double real(double x) { return x * 1.5; }

typedef long op(long);
// More than one is needed, or the compiler knows what is called.
static op *volatile ops[4] = {plus, plus, throws, plus};
static Large (*volatile larges[4])(Large) = {grow, grow, shrink, grow};
static long (*volatile various[4])(int, ...) = {add_all, add_all, add_all, first_only};
static double (*volatile reals[2])(double) = {real, real};
static Shape *volatile shapes[4];

__attribute__((noinline)) long virtuals(long rounds) {
    long sum = 0;
    for (long i = 0; i < rounds; i++) sum += shapes[i % 4]->area(i);
    return sum;
}
__attribute__((noinline)) long thrown(long rounds) {
    long sum = 0;
    for (long i = 0; i < rounds; i++) {
        try {
            sum += ops[i % 4](i);
        } catch (long x) {
            sum -= x;
        } catch (const std::exception &e) {
            sum += (long)strlen(e.what());
        }
    }
    return sum;
}
__attribute__((noinline)) long large(long rounds) {
    Large all = {{1, 2, 3, 4, 5, 6}};
    long sum = 0;
    for (long i = 0; i < rounds; i++) {
        Large next = larges[i % 4](all);
        sum += next.word[i % 6] - all.word[(i + 1) % 6];
        all = next;
    }
    return sum;
}
__attribute__((noinline)) long variable(long rounds) {
    long sum = 0;
    for (long i = 0; i < rounds; i++) sum += i % 2 ? various[i % 4](3, i, i + 1, i + 2) : various[i % 4](1, i);
    return sum;
}
// Functions are called as what they are, but the pointers are of one type, and were others before.
__attribute__((noinline)) long cast(long rounds) {
    long sum = 0;
    void *volatile all[4] = {(void *)plus, (void *)narrow, (void *)nothing, (void *)narrow};
    for (long i = 0; i < rounds; i++) {
        void *f = all[i % 4];
        if (f == (void *)plus) sum += ((op *)f)(i);
        else if (f == (void *)narrow) sum += ((int (*)(int))f)((int)i);
        else ((void (*)(long))f)(i);
        sum += (long)reals[i % 2]((double)i);
    }
    return sum;
}
typedef long step(long, long);
static step one, two, three;
static step *volatile steps[4] = {one, two, one, three};
#define NEXT __attribute__((musttail)) return
static long one(long n, long sum) { if (n == 0) return sum; NEXT steps[n % 4](n - 1, sum * 3 + 1); }
static long two(long n, long sum) { if (n == 0) return sum; NEXT steps[n % 4](n - 1, sum ^ n); }
static long three(long n, long sum) { if (n == 0) return sum; NEXT steps[(n + 1) % 4](n - 1, sum + n); }
__attribute__((noinline)) long jumps(long rounds) { return steps[0](rounds, 1); }

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 3000;
    static Square square; static Circle circle; static Both both;
    shapes[0] = shapes[1] = &square; shapes[2] = &both; shapes[3] = &circle;
    if (argc > 2) {
        ops[0] = ops[1] = throws;
        larges[0] = larges[3] = shrink;
        various[0] = various[1] = first_only;
        shapes[0] = shapes[1] = &circle;
    }
    printf("%ld %ld %ld %ld %ld\n", virtuals(rounds), thrown(rounds), large(rounds), variable(rounds), cast(rounds));
    printf("%ld\n", jumps(rounds * 100));
    return 0;
}
