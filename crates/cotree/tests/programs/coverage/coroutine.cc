#include <coroutine>
#include <cstdio>
struct Task {
    struct promise_type {
        int value = 0;
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int x) {
            value = x;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
    ~Task() { handle.destroy(); }
};
static Task numbers(int n) {
    for (int i = 0; i < n; i++) {
        if (i == 2) continue;
        co_yield i ? i * 2 : 1;
    }
}
int main() {
    Task task = numbers(5);
    int sum = 0;
    while (!task.handle.done()) {
        task.handle.resume();
        sum += task.handle.done() ? 0 : task.handle.promise().value;
    }
    printf("%d\n", sum);
}
