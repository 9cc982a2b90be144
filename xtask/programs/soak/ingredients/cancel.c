// Threads that are cancelled while they wait.
struct shared$ { pthread_barrier_t barrier; long value; };
__attribute__((noinline)) static void cleanup$(void *shared) {
  ENTRY(cleanup$);
  ((struct shared$ *)shared)->value += 3;
}
__attribute__((noinline)) static void waits$(struct shared$ *shared, long n) {
  ENTRY(waits$);
  if (n > 0) {
    T();
    waits$(shared, n - 1);
    T();
    return;
  }
  pthread_barrier_wait(&shared->barrier);
  T();
  for (;;) pause();
}
static void *thread$(void *argument) {
  struct shared$ *shared = argument;
  ENTRY(thread$);
  pthread_cleanup_push(cleanup$, shared);
  T();
  waits$(shared, NUM(0,4));
  T();
  pthread_cleanup_pop(1);
  T();
  return 0;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  struct shared$ shared;
  shared.value = n;
  for (int i = 0; i < NUM(1,3); i++) {
    pthread_t thread;
    pthread_barrier_init(&shared.barrier, 0, 2);
    if (pthread_create(&thread, 0, thread$, &shared) != 0) _exit(96);
    pthread_barrier_wait(&shared.barrier);
    T();
    pthread_cancel(thread);
    pthread_join(thread, 0);
    pthread_barrier_destroy(&shared.barrier);
    s += shared.value;
    T();
  }
  BODY();
  return s;
}
