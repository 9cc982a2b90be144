// Threads of the C++ library, handlers of signals, exceptions and jumps; says how often `tick` was called.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
static std::jmp_buf back;
static volatile long sum;
static volatile int handled, ticks;
extern "C" __attribute__((noinline)) void tick(int turns) {
    for (int i = 0; i < turns; i++) sum = sum + i;
}
static void on_signal(int) { handled = handled + 1; tick(3); }
__attribute__((noinline)) static int work(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += i % 3 ? i : -i;
    return s;
}
static int thrower(int n) {
    if (n % 3 == 0) throw std::runtime_error("a third");
    return n;
}
static void deep(int n) {
    if (n == 0) std::longjmp(back, 1);
    deep(n - 1);
}
int main() {
    struct sigaction action = {}, old = {};
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, nullptr);
    std::signal(SIGUSR2, on_signal);
    sigaction(SIGUSR1, nullptr, &old);
    if (old.sa_handler != on_signal) return 9;
    for (volatile int i = 0; i < 50; i = i + 1) {
        std::raise(i % 2 ? SIGUSR1 : SIGUSR2);
        tick(2);
        ticks = ticks + 1;
    }
    int results[4], caught = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back([&results, i] { results[i] = work(1000 * (i + 1)); });
    for (auto &thread : threads) thread.join();
    for (int i = 0; i < 9; i++) {
        try { thrower(i); } catch (const std::exception &) { caught++; }
    }
    for (volatile int i = 0; i < 5; i = i + 1) if (!setjmp(back)) deep(i);
    int child = fork(), status = 0;
    if (child == 0) _exit(4);
    waitpid(child, &status, 0);
    std::printf("%d %d %d\n", results[0] + results[1] + results[2] + results[3], caught, WEXITSTATUS(status));
    std::printf("ticks %d\n", ticks + handled);
}
