// Threads that end deep in their calls, with handlers for cleanup and keys with destructors.
static pthread_key_t key$;
static pthread_once_t once$ = PTHREAD_ONCE_INIT;
static void destroy$(void *value) {
  ENTRY(destroy$);
  *(long *)value += 1;
  T();
}
static void make$(void) {
  pthread_key_create(&key$, destroy$);
}
__attribute__((noinline)) static void cleanup$(void *value) {
  ENTRY(cleanup$);
  *(long *)value += 2;
}
__attribute__((noinline)) static long deep$(long n, long *value) {
  ENTRY(deep$);
  if (n > 0) {
    T();
    long s = deep$(n - 1, value);
    T();
    return s + 1;
  }
  T();
  if (*value & NUM(0,1)) pthread_exit(value);
  T();
  return 0;
}
static void *thread$(void *value) {
  ENTRY(thread$);
  pthread_setspecific(key$, value);
  pthread_cleanup_push(cleanup$, value);
  T();
  soak_fuel = 3;
  *(long *)value += soak_guarded(CALLEE, 2);
  deep$(NUM(0,4), value);
  T();
  pthread_cleanup_pop(NUM(0,1));
  T();
  return value;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  pthread_once(&once$, make$);
  if (soak_fuel < 6) return s;
  for (int i = 0; i < NUM(1,3); i++) {
    long value = s + i;
    pthread_t thread;
    T();
    soak_fuel -= 3;
    if (pthread_create(&thread, 0, thread$, &value) != 0) _exit(96);
    pthread_join(thread, 0);
    s = (s + value) & 0xffff;
    T();
  }
  return s;
}
