// Hundreds of threads that do little.
static void *thread$(void *argument) {
  ENTRY(thread$);
  if ((long)argument & 1) {
    T();
    pthread_exit(argument);
  }
  T();
  return argument;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 40) return s;
  soak_fuel -= 40;
  for (int round = 0; round < NUM(1,9); round++) {
    pthread_t threads[20];
    for (long i = 0; i < 20; i++) {
      T();
      if (pthread_create(&threads[i], 0, thread$, (void *)i) != 0) _exit(96);
    }
    for (int i = 0; i < 20; i++) pthread_join(threads[i], 0);
    T();
  }
  return s;
}
