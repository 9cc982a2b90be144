// A handler that leaves by a jump, to a frame that waits in a call.
static __thread sigjmp_buf back$;
static void handler$(int number) {
  ENTRY(handler$);
  if (soak_fuel & 1) {
    T();
    siglongjmp(back$, number & 7);
  }
  T();
}
__attribute__((noinline)) static long raises$(long n) {
  ENTRY(raises$);
  if (n > 0) {
    T();
    long s = raises$(n - 1);
    T();
    return s + 1;
  }
  T();
  pthread_kill(pthread_self(), SIGRTMIN + $);
  T();
  return 1;
}
long p$(long n) {
  volatile long s = n;
  ENTRY(p$);
  SPEND();
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler$;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGRTMIN + $, &action, 0);
  for (volatile int i = 0; i < NUM(1,3); i++) {
    T();
    if (sigsetjmp(back$, 1) == 0) {
      T();
      s += raises$(NUM(0,3));
      T();
    } else {
      T();
      s += 5;
    }
    BODY();
  }
  return s;
}
