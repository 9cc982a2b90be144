// Objects of threads, whose ends run code of the program after all else. That may start threads with such objects, and
// so only the first ones do.
static int ends$;
struct local$ {
  long value;
  local$() : value(1) {
    T();
  }
  ~local$() {
    T();
    if (__atomic_fetch_add(&ends$, 1, __ATOMIC_RELAXED) < 16) {
      T();
      soak_fuel = 4;
      soak_ending_in = 0;
      soak_guarded(CALLEE, value & 7);
    }
    T();
  }
};
static thread_local local$ object$;
static thread_local local$ other$;
extern "C" __attribute__((noinline)) long uses$(long n) {
  ENTRY(uses$);
  object$.value += n;
  if (n & 1) {
    T();
    other$.value += n;
  }
  T();
  return object$.value;
}
extern "C" void *thread$(void *argument) {
  ENTRY(thread$);
  long s = uses$(reinterpret_cast<long>(argument));
  if (s & NUM(1,2)) {
    T();
    pthread_exit(0);
  }
  T();
  return 0;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  #optional
  s += uses$(s & 7) & 7;
  #end
  for (long i = 0; i < NUM(1,3); i++) {
    pthread_t thread;
    if (pthread_create(&thread, 0, thread$, reinterpret_cast<void *>((s + i) & 15)) != 0) _exit(96);
    pthread_join(thread, 0);
    T();
  }
  BODY();
  return s;
}
