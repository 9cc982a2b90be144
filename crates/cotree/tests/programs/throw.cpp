// Exceptions through frames without handlers, with cleanups, rethrown, through C code, caught at several levels.
#include "tally.h"
#include <stdexcept>
#include <string>
#include <vector>
struct Guard {
    int &n;
    explicit Guard(int &n) : n(n) {
        T(1);
    }
    ~Guard() {
        T(2);
        n++;
    }
};
static int cleaned;
__attribute__((noinline)) static int plain(int n) {
    T(3);
    if (n == 3) {
        T(4);
        throw std::runtime_error("three");
    }
    if (n == 7) {
        T(5);
        throw n;
    }
    int r = n > 0 ? plain(n - 2) : 0;
    T(6);
    return r + 1;
}
__attribute__((noinline)) static int with_cleanup(int n) {
    T(7);
    Guard guard(cleaned);
    int r = plain(n);
    T(8);
    return r;
}
static inline int thin(int n) {
    T(9);
    int r = with_cleanup(n);
    T(10);
    return r;
}
__attribute__((noinline)) static int rethrow(int n) {
    T(11);
    try {
        T(12);
        return thin(n);
    } catch (const std::exception &) {
        T(13);
        throw;
    }
    T(14);
}
static int compare(const void *a, const void *b) {
    T(15);
    int x = *(const int *)a, y = *(const int *)b;
    if (x == 13 || y == 13) {
        T(16);
        throw std::string("thirteen");
    }
    return x - y;
}
static int sort_some(int k) {
    int v[] = {5, 3, k, 8, 1};
    T(17);
    qsort(v, 5, sizeof *v, compare);
    T(18);
    return v[0];
}
int main() {
    int caught = 0, sum = 0;
    for (int n = 0; n < 16; n++) {
        try {
            T(19);
            sum += rethrow(n);
            T(20);
        } catch (const std::runtime_error &e) {
            T(21);
            caught += e.what()[0];
        } catch (int i) {
            T(22);
            caught += i;
        }
        try {
            sum += sort_some(n);
            T(23);
        } catch (const std::string &s) {
            T(24);
            caught += (int)s.size();
        }
    }
    std::vector<int> v;
    for (int i = 0; i < 5; i++) {
        try {
            T(25);
            sum += v.at(i);
        } catch (const std::out_of_range &) {
            T(26);
            v.push_back(i);
        }
    }
    printf("%d %d %d\n", caught, sum, cleaned);
    T(27);
    return 0;
}
