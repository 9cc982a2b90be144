// Loops that count themselves, are vectorised or unrolled: their bodies hold no tally.
static __thread int data$[256];
__attribute__((noinline)) static long loop$(long n) {
  long s = n;
  ENTRY(loop$);
  long turns = n & NUM(15,127);
  COUNTED(turns);
  for (long i = 0; i < turns; i++)
    data$[i & NUM(40,255)] += (int)(s ^ i); /* COUNTED */
  int last = (int)(n & 7) + NUM(1,9);
  COUNTED(last);
  for (int i = 0; i < last; i++)
    s = (s ^ data$[i]) & 0xffff; /* COUNTED */
  T();
  for (unsigned i = 0; i < NUM(2,9); i++) {
    T();
    data$[i] += (int)(s ^ i);
  }
  return s;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  s += loop$(s);
  BODY();
  s += loop$(CALL(n) & 1023);
  return s;
}
