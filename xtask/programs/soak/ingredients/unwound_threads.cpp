// Threads that are cancelled, or end, below destructors and handlers for everything.
struct guard$ {
  long *value;
  ~guard$() {
    T();
    *value += 3;
  }
};
extern "C" __attribute__((noinline)) void ends$(long n, long *value, pthread_barrier_t *barrier) {
  ENTRY(ends$);
  guard$ guard{value};
  if (n > 0) {
    T();
    try {
      ends$(n - 1, value, barrier);
      T();
    } catch (abi::__forced_unwind &) {
      T();
      throw;
    } catch (...) {
      T();
    }
    T();
    return;
  }
  T();
  if (*value & 1) pthread_exit(value);
  pthread_barrier_wait(barrier);
  T();
  for (;;) pause();
}
struct start$ {
  long value;
  pthread_barrier_t barrier;
};
extern "C" void *thread$(void *argument) {
  ENTRY(thread$);
  start$ *start = static_cast<start$ *>(argument);
  soak_fuel = 4;
  start->value += soak_guarded(CALLEE, 2) & 2;
  T();
  guard$ guard{&start->value};
  try {
    ends$(NUM(0,4), &start->value, &start->barrier);
  } catch (...) {
    T();
    throw;
  }
  T();
  return 0;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 8) return s;
  soak_fuel -= 8;
  for (int i = 0; i < NUM(1,3); i++) {
    start$ start;
    start.value = (s + i) & 1;
    pthread_barrier_init(&start.barrier, 0, 2);
    bool exits = start.value & 1;
    pthread_t thread;
    if (pthread_create(&thread, 0, thread$, &start) != 0) _exit(96);
    T();
    if (!exits) {
      pthread_barrier_wait(&start.barrier);
      T();
      pthread_cancel(thread);
    }
    pthread_join(thread, 0);
    pthread_barrier_destroy(&start.barrier);
    s += start.value;
    T();
  }
  BODY();
  return s & 0xfffff;
}
