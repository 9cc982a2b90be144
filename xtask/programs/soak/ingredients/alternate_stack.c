// A handler on a stack of its own.
static __thread long handled$;
static void handler$(int number) {
  ENTRY(handler$);
  handled$ += soak_apart(CALLEE, number & 3, NUM(1,4));
  T();
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  stack_t stack, before;
  memset(&stack, 0, sizeof stack);
  stack.ss_size = 256 << 10;
  stack.ss_sp = malloc(stack.ss_size);
  if (sigaltstack(&stack, &before) != 0) {
    T();
    free(stack.ss_sp);
    return s;
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler$;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGRTMIN + $, &action, 0);
  handled$ = 0;
  for (int i = 0; i < NUM(1,3); i++) {
    T();
    pthread_kill(pthread_self(), SIGRTMIN + $);
    s += handled$ & 255;
  }
  sigaltstack(&before, 0);
  free(stack.ss_sp);
  T();
  return s;
}
