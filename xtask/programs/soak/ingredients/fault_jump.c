// A fault whose handler jumps away.
static __thread sigjmp_buf *back$;
static void handler$(int number) {
  ENTRY(handler$);
  if (!back$) {
    T();
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  siglongjmp(*back$, number);
}
__attribute__((noinline)) static long faults$(long n) {
  ENTRY(faults$);
  volatile long *nowhere = (volatile long *)soak_number(8);
  T();
  long s = ANY(*nowhere|(*nowhere = n));
  T();
  return s;
}
long p$(long n) {
  volatile long s = n;
  ENTRY(p$);
  SPEND();
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler$;
  action.sa_flags = SA_NODEFER;
  sigjmp_buf here;
  if (sigsetjmp(here, 1) == 0) {
    T();
    back$ = &here;
    sigaction(SIGSEGV, &action, 0);
    s += faults$(n);
    T();
  } else {
    T();
    s += 9;
  }
  back$ = 0;
  BODY();
  return s;
}
