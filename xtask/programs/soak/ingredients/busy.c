// Threads that are still busy when the process ends.
__attribute__((noinline)) static long work$(long n) {
  ENTRY(work$);
  if (n & 4) {
    T();
    return n * 5 + 1;
  }
  T();
  return n ^ 7;
}
static void *thread$(void *argument) {
  long s = 1;
  ENTRY(thread$);
  pthread_barrier_wait(argument);
  for (long i = 0; i < NUM(1000,90000); i++) {
    T();
    s = work$(s) & 0xffff;
    #optional
    if (i % 64 == 0) usleep(1);
    T();
    #end
  }
  for (;;) pause();
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 40) return s;
  soak_fuel -= 40;
  pthread_barrier_t *barrier = malloc(sizeof *barrier);
  pthread_barrier_init(barrier, 0, 2);
  pthread_t thread;
  if (pthread_create(&thread, 0, thread$, barrier) != 0) _exit(96);
  pthread_detach(thread);
  pthread_barrier_wait(barrier);
  T();
  return s;
}
