// Coroutines that end in every way: they return, are destroyed while they wait, throw, catch, and are on the stack when the
// process exits. `END` says where the last one is then.
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

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
