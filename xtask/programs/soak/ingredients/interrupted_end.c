// A child that a handler ends, or goes on with elsewhere, wherever it is.
static sigjmp_buf back$;
static void handler$(int number) {
  ENTRY(handler$);
  if (number) {
    T();
    ANY(_exit(7)|exit(8)|siglongjmp(back$, 1)|abort());
  }
  T();
}
__attribute__((noinline)) static long work$(long n) {
  long s = n;
  ENTRY(work$);
  for (long i = 0; i < (n & 63); i++) {
    T();
    s = s & 1 ? s * 3 + 1 : s >> 1;
    #optional
    if (s & 16) {
      T();
      s ^= i;
    }
    #end
  }
  return s;
}
long p$(long n) {
  volatile long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 40) return s;
  soak_fuel -= 40;
  pid_t child = fork();
  if (child == 0) {
    signal(SIGALRM, handler$);
    if (sigsetjmp(back$, 1) == 0) {
      T();
      struct itimerval once = { { 0, 0 }, { 0, NUM(50,3000) } };
      setitimer(ITIMER_REAL, &once, 0);
      for (;;) {
        T();
        s += work$(s + 27) & 255;
      }
    }
    T();
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  T();
  return s + status;
}
