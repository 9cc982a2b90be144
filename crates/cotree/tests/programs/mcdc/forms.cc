// Decisions in all the places where clang knows them, with few and with many conditions.
#include <stdexcept>

static int noise = 7;
static bool bit(int number) {
    noise = noise * 1103515245 + 12345;
    return (noise >> (number % 13 + 3)) & 1;
}
static bool thrown(int number) {
    if (number % 5 == 0 && bit(number))
        throw std::runtime_error("in a condition");
    return bit(number);
}

#define BOTH(x, y) ((x) && (y))
#define EITHER_OR_BOTH(x, y, z) (BOTH(x, y) || (z))

static int statements(bool a, bool b, bool c, bool d) {
    int sum = 0;
    if ((a && b) || (c && d))
        sum += 1;
    else
        sum += 2;
    if (!(a && b) || !c)
        sum += 4;
    if (a && b && c && d)
        sum += 8;
    if (a || b || c || d)
        sum += 16;
    while ((a || b) && (c || sum < 10)) {
        sum += 3;
        a = a && bit(sum);
        b = bit(sum + 1) || (b && c);
        c = false;
    }
    for (int i = 0; i < 4 && (bit(i) || d); i++)
        sum++;
    do
        sum++;
    while (sum < 40 && (d || bit(sum)));
    return sum;
}

static bool values(bool a, bool b, bool c, bool d) {
    bool x = (a && b) || c;
    bool y = a && !(b || c);
    int z = ((a || b) && c) ? 3 : (b || d) ? 4 : 5;
    noise += x + y + z;
    bool chosen = BOTH(a, b) || EITHER_OR_BOTH(c, d, a);
    return (chosen || x) && (y || d);
}

static bool many(unsigned n) {
    auto is = [n](int k) { return (n >> k & 1) != 0 && k != 30; };
    return ((is(0) || is(1)) && (is(2) || is(3)) && (is(4) || is(5))) || (is(6) && (is(7) || is(8)) && is(9)) ||
           (is(10) && is(11));
}

static int inside(bool a, bool b, int n) {
    int loops = 0;
    if (a && ({
            bool any = false;
            for (int i = 0; i < n; i++) {
                loops++;
                if (bit(i) && i > 1)
                    any = true;
                if (n == 7)
                    goto out;
            }
            any;
        }) &&
        b)
        loops += 100;
out:
    try {
        if (thrown(n) || (a && thrown(n + 1)))
            loops += 1000;
    } catch (const std::runtime_error &) {
        loops += 10000;
    }
    return loops;
}

static bool deep(int n, bool a, bool b) { return n <= 0 || (a && deep(n - 1, b, a)) || (b && deep(n - 2, a, b)); }

template <typename T> static bool generic(T a, T b, T c) { return (a < b && b < c) || a == c; }

static int constants(bool a, bool b) {
    if ((a && sizeof(int) == 4) || (b && sizeof(int) == 2))
        return 1;
    if (a && (true || b))
        return 2;
    return 3;
}

static bool never(bool a, bool b, bool c) { return (a || b) && c; }

int main(int count, char **) {
    int sum = 0;
    for (unsigned n = 0; n < 40; n++) {
        bool a = bit(0), b = bit(1), c = bit(2), d = bit(3) && n > 20;
        sum += statements(a, b, c, d) + values(a, b, c, d) + many(n * 2654435761u) + inside(a, b, n % 9);
        sum += deep(n % 5, a, b) + generic(int(n % 3), 1, 2) + generic(n % 5 * 0.5, 1.0, 1.5) + constants(a, d);
    }
    return count > 9 ? never(sum & 1, sum & 2, sum & 4) : 0;
}
