// A handler on a stack of its own that leaves it by a jump.
static __thread sigjmp_buf back$;
static __thread long leaves$;
static void handler$(int number) {
  ENTRY(handler$);
  if (--leaves$ < 0) {
    T();
    soak_apart(CALLEE, number & 3, 3);
    T();
    siglongjmp(back$, number);
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
  stack_t stack, before;
  memset(&stack, 0, sizeof stack);
  stack.ss_size = 256 << 10;
  stack.ss_sp = malloc(stack.ss_size);
  if (sigaltstack(&stack, &before) != 0) {
    T();
    return s;
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler$;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGRTMIN + $, &action, 0);
  for (volatile int i = 0; i < NUM(1,4); i++) {
    T();
    leaves$ = NUM(0,1);
    if (sigsetjmp(back$, 1) == 0) {
      T();
      s += raises$(NUM(0,3));
      T();
    } else {
      T();
      s += 5;
    }
  }
  sigaltstack(&before, 0);
  T();
  BODY();
  return s;
}
