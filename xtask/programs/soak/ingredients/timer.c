// A handler that comes at any time.
static volatile long ticks$;
static void handler$(int number) {
  ENTRY(handler$);
  ticks$ += number;
}
__attribute__((noinline)) static long work$(long n) {
  long s = n;
  ENTRY(work$);
  for (long i = 0; i < 60; i++) {
    T();
    if ((s ^ i) & 3) {
      T();
      s = (s * 5 + i) & 0xffff;
    } else {
      T();
      s ^= i;
    }
  }
  return s;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler$;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, 0);
  struct itimerval often = { { 0, NUM(100,900) }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
  setitimer(ITIMER_PROF, &often, 0);
  for (int i = 0; i < NUM(100,2000); i++) {
    T();
    s += work$(s + i) & 7;
  }
  setitimer(ITIMER_PROF, &never, 0);
  T();
  return s & 0xffff;
}
