// A stack that overflows, in a child that a handler on another stack ends or goes on with, or that dies of it.
static sigjmp_buf back$;
static void handler$(int number) {
  ENTRY(handler$);
  ANY(_exit(number)|siglongjmp(back$, 1)|(signal(number, SIG_DFL), raise(number)));
  T();
}
__attribute__((noinline)) static long deep$(long n) {
  ENTRY(deep$);
  char frame[4096];
  memset(frame, (int)n, sizeof frame);
  soak_sink(frame);
  T();
  long s = n < 100000 ? deep$(n + 1) : 0;
  T();
  return s + frame[n & 4095];
}
long p$(long n) {
  volatile long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 40) return s;
  soak_fuel -= 40;
  pid_t child = fork();
  if (child == 0) {
    T();
    #optional
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    stack.ss_size = 64 << 10;
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, 0);
    #end
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler$;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, 0);
    if (sigsetjmp(back$, 1) == 0) {
      T();
      s += deep$(n);
    }
    T();
    _exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  T();
  return s;
}
