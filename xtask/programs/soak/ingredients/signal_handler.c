// A handler that runs other pieces, and returns.
static __thread long handled$;
static void handler$(int number) {
  ENTRY(handler$);
  handled$ += soak_apart(CALLEE, number & 3, NUM(1,6));
  T();
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler$;
  action.sa_flags = ANY(0|SA_RESTART|SA_NODEFER);
  sigaction(SIGRTMIN + $, &action, 0);
  handled$ = 0;
  for (int i = 0; i < NUM(1,3); i++) {
    T();
    pthread_kill(pthread_self(), SIGRTMIN + $);
    s += handled$ & 255;
    BODY();
  }
  T();
  return s;
}
