// Functions that are left in the middle, and gone on with.
#include <coroutine>
struct task$ {
  struct promise_type {
    long value = 0;
    task$ get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(long given) {
      value = given;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { value = -1; }
  };
  std::coroutine_handle<promise_type> handle;
};
extern "C" __attribute__((noinline)) long counted$(long n) {
  ENTRY(counted$);
  if (n & NUM(1,7)) {
    T();
    return n + 1;
  }
  T();
  #optional
  if (n & 8) throw n;
  #end
  return n;
}
static task$ generate$(long n) {
  for (long i = 0; i < n; i++) {
    co_yield counted$(n + i);
    soak_sink(&i);
  }
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  for (int i = 0; i < NUM(1,3); i++) {
    task$ task = generate$(NUM(0,5));
    T();
    for (int k = 0; k < NUM(1,6) && !task.handle.done(); k++) {
      T();
      task.handle.resume();
      s += task.handle.promise().value & 15;
    }
    T();
    task.handle.destroy();
    BODY();
  }
  return s;
}
