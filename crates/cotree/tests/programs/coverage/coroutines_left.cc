// Coroutines that exceptions leave, that are destroyed while suspended, and that begin at once or later.
#include "../tally.h"
#include <coroutine>
#include <stdexcept>
template <typename Initial> struct Started {
    struct promise_type {
        int value = 0;
        Started get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        Initial initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v) { value = v; return {}; }
        void return_value(int v) { value = v; }
        void unhandled_exception() { T(0);
            throw; }
    };
    std::coroutine_handle<promise_type> handle;
};
using Task = Started<std::suspend_always>;
using Eager = Started<std::suspend_never>;
static int calls, limit;
static int may_end(int n) {
    if (++calls == limit)
        throw std::runtime_error("limit");
    return n;
}
struct Guard {
    ~Guard() {
        T(1);
    }
};
static Task numbers(int most) {
    T(2);
    Guard guard;
    for (int i = 0; i < most; i++) {
        T(3);
        may_end(i);
        T(4);
        co_yield i; /* as T(4) */
        T(5);
    }
    T(6);
    int last = may_end(9);
    T(7);
    co_return last;
}
static Eager eager(int most) {
    T(18);
    int sum = most;
    if (most > 1) {
        T(19);
        co_yield may_end(1);
        T(20);
    }
    T(21);
    while (sum-- > 0) {
        T(22);
        co_yield sum;
        if (sum == 1) {
            T(23);
            may_end(1);
        }
        T(24);
    }
    T(25);
    co_return 3;
}
static int use_eager(int most, int resumes) {
    T(26);
    try {
        Eager task = eager(most);
        T(27);
        for (int i = 0; i < resumes && !task.handle.done(); i++)
            task.handle.resume();
        T(28);
        task.handle.destroy();
    } catch (const std::runtime_error &) {
        T(29);
        return 0;
    }
    T(30);
    return 1;
}
static int use(int most, int resumes) {
    T(8);
    Task task = numbers(most);
    T(9);
    int sum = 0;
    for (int i = 0; i < resumes && !task.handle.done(); i++) {
        T(10);
        try {
            task.handle.resume();
            T(11);
        } catch (const std::runtime_error &) {
            T(12);
            break;
        }
        sum += task.handle.promise().value;
        T(13);
    }
    T(14);
    task.handle.destroy();
    T(15);
    return sum;
}
int main() {
    int sum = 0;
    for (limit = 0; limit < 16; limit++) {
        calls = 0;
        T(16);
        sum += use(3, 2) + use(3, 9) + use(0, 9) + use(2, 0);
        sum += use_eager(0, 9) + use_eager(1, 1) + use_eager(2, 1) + use_eager(3, 9);
        T(17);
    }
    return sum == 0;
}
