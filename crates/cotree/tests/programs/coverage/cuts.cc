// Exceptions from everywhere, which some functions catch and most do not.
#define TALLY_SLOTS 128
#include "../tally.h"
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#define CHECKED(a) do { if (!(a)) throw std::runtime_error("checked"); } while (0)

static int calls;
static int limit;

static int may_throw(int value) {
    if (++calls == limit)
        throw std::runtime_error("limit");
    return value;
}

struct Member {
    int value;
    explicit Member(int n) : value(may_throw(n)) {
        T(0);
    }
    ~Member() {
        T(1);
    }
};

struct Whole {
    Member one;
    Member other;
    int more = may_throw(3);
    Whole(int n) : one(n), other(may_throw(n)) {
        T(2);
        may_throw(n);
        T(3);
    }
    Whole(int n, int m) : Whole(n) {
        T(4);
        may_throw(m);
        T(5);
    }
};

template <typename N> static N both(N n) {
    T(6);
    static N first = may_throw(1);
    N sum = may_throw(2) + n;
    T(7);
    for (N i = 0; i < 3; i++) {
        T(8);
        sum += may_throw(1);
        T(9);
    }
    T(10);
    return sum + first;
}

static int caught(int n) {
    T(11);
    try {
        T(12);
        may_throw(n);
        T(13);
    } catch (std::runtime_error &e) {
        T(14);
        return 1;
    }
    T(15);
    try {
        may_throw(n);
        T(16);
    } catch (std::exception &e) {
        T(17);
        if (n > 1)
            throw;
        T(18);
    }
    T(19);
    return 2;
}

static int lambdas(const std::vector<int> &all) {
    T(20);
    int sum = 0;
    std::function<void(int)> add = [&sum](int n) {
        T(21);
        sum += may_throw(n);
        T(22);
    };
    for (int n : all) {
        T(23);
        add(n);
        T(24);
    }
    T(25);
    return sum;
}

static int objects(int n) {
    T(26);
    auto pointer = std::make_unique<Member>(n);
    std::string text(static_cast<size_t>(n) + 1, 'x');
    T(27);
    Member *none = n > 1 ? nullptr : new Member(2);
    T(28);
    delete none;
    T(29);
    if (n == 2)
        return may_throw(4);
    T(30);
    Whole whole(n, 2);
    T(31);
    CHECKED(n < 3);
    T(32);
    return static_cast<int>(text.size()) + whole.more;
}

static int all(int n) {
    T(40);
    int sum = objects(n);
    T(41);
    sum += caught(n);
    T(42);
    sum += both<int>(n) + static_cast<int>(both<long>(n));
    T(43);
    sum += lambdas({1, 2, n});
    T(44);
    return sum;
}

int main() {
    int sum = 0;
    for (limit = 60; limit > 0; limit--) {
        for (int n = 0; n < 4; n++) {
            calls = 0;
            try {
                T(45);
                sum += all(n);
                T(46);
            } catch (std::exception &e) {
                T(47);
                sum--;
            }
            T(48);
        }
    }
    T(49);
    return sum == 0;
}
