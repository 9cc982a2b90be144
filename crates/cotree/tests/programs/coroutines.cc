// Coroutines that end in every way: they return, are destroyed while they wait, throw, catch, and are on the stack when the
// process exits. `END` says where the last one is then.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#ifdef __cpp_impl_coroutine
#include <coroutine>
#else
// clang 14 looks for them here, and the library's header does not know it.
namespace std::experimental {
template <class Result, class...> struct coroutine_traits { using promise_type = typename Result::promise_type; };
template <class Promise = void> struct coroutine_handle;
template <> struct coroutine_handle<void> {
  void *frame = nullptr;
  coroutine_handle() = default;
  coroutine_handle(std::nullptr_t) {}
  static coroutine_handle from_address(void *frame) { coroutine_handle made; made.frame = frame; return made; }
  explicit operator bool() const { return frame; }
  void resume() const { __builtin_coro_resume(frame); }
  void destroy() const { __builtin_coro_destroy(frame); }
  bool done() const { return __builtin_coro_done(frame); }
};
template <class Promise> struct coroutine_handle : coroutine_handle<> {
  coroutine_handle() = default;
  coroutine_handle(std::nullptr_t) {}
  static coroutine_handle from_address(void *frame) { coroutine_handle made; made.frame = frame; return made; }
  static coroutine_handle from_promise(Promise &promise) {
    return from_address(__builtin_coro_promise(&promise, alignof(Promise), true));
  }
  Promise &promise() const {
    return *static_cast<Promise *>(__builtin_coro_promise(frame, alignof(Promise), false));
  }
};
struct suspend_always {
  bool await_ready() noexcept { return false; }
  void await_suspend(coroutine_handle<>) noexcept {}
  void await_resume() noexcept {}
};
} // namespace std::experimental
namespace std {
using namespace experimental;
}
#endif

#define APART __attribute__((noinline))

enum Place { Nowhere, Body, Awaiting, Destroying };

static int left;

APART static void leave(Place here) {
  if (here == END && --left <= 0) {
    std::exit(3);
  }
}

struct Guard {
  ~Guard() { leave(Destroying); }
};

struct Pause {
  bool ready;
  bool await_ready() noexcept { return ready; }
  void await_suspend(std::coroutine_handle<>) { leave(Awaiting); }
  void await_resume() noexcept {}
};

struct Task {
  struct promise_type {
    int value = 0;
    std::exception_ptr thrown;
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    Pause yield_value(int v) {
      value = v;
      return {v % 5 == 4};
    }
    void return_void() {}
    void unhandled_exception() { thrown = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;
  explicit Task(std::coroutine_handle<promise_type> h) : handle(h) {}
  Task(Task &&other) : handle(std::exchange(other.handle, nullptr)) {}
  ~Task() {
    if (handle) {
      handle.destroy();
    }
  }
  bool next() {
    handle.resume();
    if (handle.promise().thrown) {
      std::rethrow_exception(handle.promise().thrown);
    }
    return !handle.done();
  }
};

APART static int even(int n) { return n % 2 == 0; }

static int triple(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    s += even(i) ? 3 : 2;
  }
  return s;
}

APART static int check(int n) {
  if (n == 7) {
    throw n;
  }
  return n + 1;
}

static int checked_twice(int n) { return check(n) + check(n + 1); }

APART int apart(int n) { return n < 3 ? 1 : apart(n - 1) + even(n); }

// An exception lands in it, and goes on through its frame.
static Task numbers(int n, bool catches) {
  Guard guard;
  for (int i = 0; i < n; i++) {
    leave(Body);
    int sum = 0;
    if (catches) {
      try {
        sum = checked_twice(i);
      } catch (int caught) {
        sum = -caught;
      }
    } else {
      sum = checked_twice(i);
    }
    co_yield triple(i) + sum;
  }
}

static Task sums(int n) {
  Task inner = numbers(n, true);
  int sum = 0;
  while (inner.next()) {
    sum += inner.handle.promise().value;
    co_yield sum;
  }
}

APART static int add(Task task, int most) {
  int sum = 0;
  for (int i = 0; i < most && task.next(); i++) {
    sum += task.handle.promise().value;
  }
  return sum;
}

int main(int argc, char **) {
  left = END == Destroying ? 3 : 12;
  int sum = apart(9) + add(numbers(5 * argc, false), 99) + add(sums(10), 9) + add(sums(10), 3);
  try {
    sum += add(numbers(10, false), 99);
  } catch (int thrown) {
    sum += thrown;
  }
  std::printf("%d\n", sum);
  sum += add(numbers(20, true), 99);
  std::printf("%d\n", sum);
  return 0;
}
