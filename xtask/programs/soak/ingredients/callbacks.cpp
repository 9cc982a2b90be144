// Exceptions through frames that are not profiled: a callback's, and the C library's.
static __thread long thrown$;
extern "C" __attribute__((noinline)) long callback$(long n) {
  long s = n;
  ENTRY(callback$);
  BODY();
  if (s & NUM(1,3)) {
    T();
    throw s & 1023;
  }
  T();
  return s;
}
extern "C" int order$(const void *a, const void *b) {
  ENTRY(order$);
  long first = *(const long *)a, second = *(const long *)b;
  if (thrown$ > 0 && --thrown$ == 0) {
    T();
    throw first & 63;
  }
  T();
  return (first > second) - (first < second);
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  sigjmp_buf *outer = soak_target;
  for (int i = 0; i < NUM(1,3); i++) {
    try {
      T();
      s += soak_native(callback$, s + i) & 1023;
      T();
    } catch (long caught) {
      soak_target = outer;
      T();
      s += caught;
    }
    long numbers[NUM(2,12)];
    const int count = sizeof numbers / sizeof *numbers;
    for (int k = 0; k < count; k++) numbers[k] = (s * (k + 3)) & 255;
    try {
      thrown$ = NUM(0,9);
      qsort(numbers, count, sizeof *numbers, order$);
      T();
      s += numbers[0];
    } catch (long caught) {
      T();
      s += caught;
    }
  }
  return s & 0xfffff;
}
