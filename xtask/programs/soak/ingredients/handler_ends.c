// A child that a handler ends.
static void handler$(int number) {
  ENTRY(handler$);
  if (number) {
    T();
    ANY(_exit(7)|exit(8)|abort());
  }
  T();
}
__attribute__((noinline)) static long raises$(long n) {
  ENTRY(raises$);
  if (n > 0) {
    T();
    long s = raises$(n - 1);
    T();
    return s;
  }
  T();
  raise(SIGRTMIN + $);
  T();
  return 0;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 20) return s;
  soak_fuel -= 20;
  pid_t child = fork();
  if (child == 0) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler$;
    sigaction(SIGRTMIN + $, &action, 0);
    T();
    s = soak_apart(raises$, NUM(0,4), 10);
    T();
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  T();
  return s + status;
}
