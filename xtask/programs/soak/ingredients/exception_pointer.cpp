// An exception that goes from one thread to another.
#include <thread>
extern "C" __attribute__((noinline)) void fails$(long n) {
  ENTRY(fails$);
  if (n & NUM(1,2)) {
    T();
    throw n;
  }
  T();
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 8) return s;
  long fuel = soak_fuel /= 2;
  for (int i = 0; i < NUM(1,2); i++) {
    std::exception_ptr failure;
    long result = 0;
    std::thread thread([&] {
      T();
      soak_fuel = fuel / 4;
      try {
        result = soak_guarded(CALLEE, n & 7);
        T();
        fails$(n + i);
        T();
      } catch (...) {
        T();
        failure = std::current_exception();
      }
    });
    thread.join();
    s += result & 255;
    try {
      if (failure) std::rethrow_exception(failure);
      T();
    } catch (long caught) {
      T();
      s += caught & 255;
    }
  }
  return s;
}
