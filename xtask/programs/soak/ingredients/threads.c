// Threads that come and go.
struct start$ { long n, fuel, result; };
static void *thread$(void *start) {
  struct start$ *mine = start;
  ENTRY(thread$);
  soak_fuel = mine->fuel;
  mine->result = soak_guarded(CALLEE, mine->n);
  T();
  return 0;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  enum { COUNT = NUM(1,9) };
  struct start$ starts[COUNT];
  pthread_t threads[COUNT];
  if (soak_fuel < 8) return s;
  soak_fuel /= 2;
  for (int i = 0; i < COUNT; i++) {
    T();
    starts[i] = (struct start$){ n + i, soak_fuel / COUNT, 0 };
    if (pthread_create(&threads[i], 0, thread$, &starts[i]) != 0) _exit(96);
  }
  s += soak_apart(CALLEE, n, NUM(1,20));
  for (int i = 0; i < COUNT; i++) {
    T();
    pthread_join(threads[i], 0);
    s = s * 7 + starts[i].result;
  }
  return s;
}
