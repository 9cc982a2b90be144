// Threads that still wait when the process ends.
struct shared$ { pthread_barrier_t barrier; long fuel; };
__attribute__((noinline)) static void sleep$(struct shared$ *shared, long n) {
  ENTRY(sleep$);
  if (n > 0) {
    T();
    sleep$(shared, n - 1);
    T();
  }
  pthread_barrier_wait(&shared->barrier);
  for (;;) pause();
}
static void *thread$(void *argument) {
  struct shared$ *shared = argument;
  ENTRY(thread$);
  soak_fuel = shared->fuel;
  soak_guarded(CALLEE, 3);
  T();
  sleep$(shared, NUM(0,3));
  T();
  return 0;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 12) return s;
  soak_fuel -= 10;
  struct shared$ *shared = malloc(sizeof *shared);
  shared->fuel = 4;
  pthread_barrier_init(&shared->barrier, 0, 2);
  pthread_t thread;
  if (pthread_create(&thread, 0, thread$, shared) != 0) _exit(96);
  pthread_detach(thread);
  pthread_barrier_wait(&shared->barrier);
  T();
  return s;
}
