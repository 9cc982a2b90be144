// A child that ends in one way or another.
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 20) return s;
  soak_fuel -= 20;
  for (int i = 0; i < NUM(1,2); i++) {
    T();
    pid_t child = fork();
    if (child == 0) {
      T();
      s = soak_apart(CALLEE, n + i, 10);
      T();
      ANY(_exit(3)|exit(4)|quick_exit(5)|abort()|raise(SIGTERM));
      T();
    }
    int status = 0;
    waitpid(child, &status, 0);
    T();
    s += status;
  }
  BODY();
  return s;
}
