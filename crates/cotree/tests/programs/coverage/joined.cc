// Scopes that clean up join `return`, `break` and falling off their end, which part again behind. The last argument is
// the call that ends the process.
#define TALLY_SLOTS 160
#include "../tally.h"

static int calls, last;

static int may_end(int n) {
    if (++calls == last)
        exit(3);
    if (calls % 11 == 7)
        throw n;
    return n;
}

struct Guard {
    ~Guard() {
        T(0);
    }
};

static int after_loop(int n) {
    T(1);
    for (int i = 0; i < n; i++) {
        T(2);
        if (i == 3)
            return n + 1;
        T(3);
        if (n == 2)
            break;
    }
    T(4);
    if (n == 1) {
        T(5);
        may_end(n);
        T(6);
    } else {
        T(7);
    }
    T(8);
    may_end(n);
    T(9);
    T(10);
    return n;
}

static int after_scopes(int n) {
    T(11);
    if (n % 2 == 0) {
        Guard outer;
        T(12);
        for (int i = 0; i < n; i++) {
            Guard inner;
            T(13);
            may_end(i);
            if (i == 2)
                return 1;
            T(14);
        }
        T(15);
        n += may_end(n) > 1 && may_end(n) > 2 ? may_end(2) : 1;
        T(16);
    }
    T(17);
    for (int i = 0; i < n; i++) {
        Guard each;
        T(18);
        if (i == 3)
            return 2;
        if (i == 2)
            continue;
        may_end(n);
        T(19);
    }
    T(20);
    may_end(n);
    T(21);
    return n;
}

static int nothing_thrown(int n) {
    T(30);
    try {
        T(31);
        n++;
    } catch (int e) {
        T(32);
        n += e;
    }
    T(33);
    may_end(n);
    T(34);
    if (n == 3) {
        T(35);
        n++;
    }
    T(36);
    return n;
}

static int branches(int n) {
    T(37);
    if (n % 3 == 0) {
        T(38);
        Guard outer;
        for (int i = 0; i < 3; i++) {
            T(39);
            try {
                T(40);
                may_end(n);
                if (n == 3)
                    return n + 1;
                T(41);
            } catch (int e) {
                T(42);
                n += e;
            }
            T(43);
            may_end(n);
            Guard inner;
            T(44);
        }
        T(45);
        T(46);
        may_end(n);
        T(47);
    }
    T(48);
    may_end(n);
    T(49);
    return n;
}

static int nested(int n) {
    T(51);
    for (int i = 0; i < n; i++) {
        T(52);
        if (n == 3)
            break;
        for (int k = 0; k < 2; k++) {
            T(53);
            if (n == 5)
                return n + 1;
            if (n == 4 && k == 1)
                break;
            T(54);
        }
        T(55);
    }
    T(56);
    for (int i = 0; i < 2; i++) {
        T(57);
        may_end(n);
        T(58);
    }
    T(59);
    try {
        T(60);
        for (int i = 0; i < 2; i++) {
            T(61);
            may_end(n);
        }
        T(62);
    } catch (int e) {
        T(63);
        n += e;
    }
    T(64);
    return n;
}

// The compiler knows which case comes, and leaves out the others' code and counters.
template <int Case> static int known_case(int n) {
    T(66);
    switch (Case) {
    case 1:
        T(67);
        for (int i = 0; i < n; i++)
            T(68);
        break;
    case 2: {
        T(69);
        Guard inner;
        while (n > 1) {
            T(70);
            if (--n == 3)
                return n;
        }
        T(71);
        break;
    }
    case 3:
        T(72);
        n++;
    case 4:
        do {
            T(73);
            n--;
        } while (n > 2);
        T(74);
        break;
    default:
        T(75);
    }
    T(76);
    return n;
}

// The compiler keeps one branch, which may return: what follows ran less often, or not at all.
template <int Kept> static int kept_branch(int n) {
    T(80);
    if constexpr (Kept == 1) {
        T(81);
        return n + 1;
    } else if constexpr (Kept == 2) {
        T(82);
        if (n == 1)
            return n + 2;
    } else {
        T(83);
        n++;
    }
    T(84);
    if (n > 1) {
        T(85);
        n--;
    }
    T(86);
    while (n > 3) {
        T(87);
        n--;
    }
    T(88);
    return n;
}

// A macro that ends a `switch` ran as often as it did, and not as often as the `switch`.
static int ends_switch(int n) {
    T(89);
    switch (n) {
    case 1:
        T(90);
        break;
    case 2:
    case 3:
        if (n == 2)
            return n;
        T(91);
    }
    T(92);
    return n;
}

// Behind a `try` that nothing leaves there is no code but a loop's.
static void nothing_but_a_loop(int n) {
    T(77);
    try {
        n++;
    } catch (int e) {
        T(78);
        n += e;
    }
    do {
        T(79);
        n--;
    } while (n > 2);
}

// Behind a `try` that nothing leaves, what follows has no counter in the code: in a loop, in a branch, in a `case` that
// goes on to the next one, with a `try` in the handler.
static int tries(int n) {
    T(93);
    for (int i = 0; i < 2; i++) {
        T(94);
        try {
            T(95);
        } catch (int e) {
            T(96);
            try {
                T(97);
            } catch (int e2) {
                T(98);
            }
        }
        T(99);
        may_end(n);
    }
    T(100);
    if (n > 2) {
        try {
            T(101);
        } catch (int e) {
            T(102);
        }
    }
    T(103);
    switch (n % 3) {
    case 2: {
        if (n > 3) {
            return n;
        } else {
            try {
                if (n == 1)
                    return n;
            } catch (int e) {
                T(104);
            }
        }
        T(105);
    }
    case 0: {
    }
        T(106);
    }
    T(107);
    for (int i = 0; i < 3; i++) {
        try {
            n++;
        } catch (int e) {
            n += e;
        }
    }
    T(133);
    may_end(n);
    T(134);
    return n;
}

static int handler_returns(int n) {
    {
        Guard outer;
        try {
            may_end(n);
        } catch (int e) {
            T(108);
            return n + 3;
        }
    }
    T(109);
    may_end(n);
    T(110);
    return n;
}

// Of what the compiler knows never to run there is no code; what is left early does not make it run.
template <int Kept> static int known(int n) {
    may_end(n);
    T(111);
    switch (Kept) {
    case 1:
        T(112);
        if (sizeof(int) == 4) {
            if (Kept == 1) {
                may_end(n);
                T(113);
            } else {
                return n + 1;
            }
        } else {
            T(114);
        }
        T(115);
    case 2:
        if (sizeof(int) == 4) {
            if (n > 2)
                return n;
            T(116);
            may_end(n);
            return n + 2;
        }
        T(117);
    }
    T(118);
    return n;
}

// A branch that is kept and does not come out matters for all around it.
template <int Kept> static int kept_within(int n) {
    T(119);
    switch (n % 3) {
    case 0:
        if (sizeof(int) == 4) {
            if constexpr (Kept == 1)
                return n + 1;
        } else {
            T(120);
        }
        T(121);
    }
    T(122);
    if (n == 1 || n > 3) {
        if constexpr (Kept == 1) {
            T(123);
        } else if constexpr (Kept == 2) {
            T(124);
        } else {
            may_end(n);
            return n;
        }
    }
    T(125);
    int i = 0;
    do {
        T(126);
        if constexpr (Kept == 2) {
            break;
        }
    } while (++i < n % 4);
    T(127);
    may_end(n);
    T(128);
    while (i++ < 5) {
        T(129);
        if constexpr (Kept == 3) {
            T(130);
            break;
        } else {
            T(131);
        }
    }
    T(132);
    return n;
}

static int outer(int (*step)(int), int n) {
    T(22);
    try {
        n = step(n);
        T(23);
    } catch (int e) {
        T(24);
        n = e;
    }
    T(25);
    return n;
}

int main(int c, char **v) {
    last = c > 1 ? atoi(v[1]) : 0;
    int sum = 0;
    for (int n = 0; n < 40; n++) {
        T(26);
        sum += outer(after_loop, n % 6);
        T(27);
        sum += outer(after_scopes, n % 7);
        T(28);
        sum += outer(nothing_thrown, n % 4) + outer(branches, n % 5);
        T(50);
        sum += outer(nested, n % 6);
        T(65);
        sum += known_case<1>(n % 2) + known_case<2>(n % 5) + known_case<3>(n % 3) + known_case<4>(n % 4);
        nothing_but_a_loop(n % 5);
        sum += kept_branch<1>(n) + kept_branch<2>(n % 3) + kept_branch<3>(n % 5) + ends_switch(n % 4);
        sum += outer(tries, n % 5) + outer(handler_returns, n) + outer(known<1>, n % 5) + outer(known<2>, n % 5);
        sum += outer(kept_within<1>, n % 7) + outer(kept_within<2>, n % 7) + outer(kept_within<3>, n % 7);
    }
    T(29);
    return sum == 0;
}
