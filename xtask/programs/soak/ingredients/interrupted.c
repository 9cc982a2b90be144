// A thread that another one interrupts, wherever it is.
static volatile int stop$;
static __thread long handled$;
static void handler$(int number) {
  ENTRY(handler$);
  if (handled$++ & 1) {
    T();
    return;
  }
  handled$ += soak_apart(CALLEE, number & 3, 2) & 0;
  T();
}
__attribute__((noinline)) static long work$(long n) {
  ENTRY(work$);
  for (int i = 0; i < NUM(1,30); i++) {
    T();
    n = n & 1 ? n * 3 + 1 : n >> 1;
  }
  return n;
}
static void *thread$(void *argument) {
  ENTRY(thread$);
  soak_fuel = 100;
  long s = (long)argument;
  while (!stop$) {
    T();
    s += work$(s + 27) & 255;
  }
  T();
  return 0;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 40) return s;
  soak_fuel -= 40;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler$;
  action.sa_flags = SA_RESTART;
  sigaction(SIGRTMIN + $, &action, 0);
  pthread_t thread;
  stop$ = 0;
  if (pthread_create(&thread, 0, thread$, (void *)s) != 0) _exit(96);
  for (int i = 0; i < NUM(3,30); i++) {
    T();
    pthread_kill(thread, SIGRTMIN + $);
    usleep(20);
  }
  stop$ = 1;
  pthread_join(thread, 0);
  T();
  return s;
}
