// Exceptions that are caught, thrown again, and caught by type further out.
struct error$ { long value; };
extern "C" __attribute__((noinline)) long inner$(long n) {
  long s = n;
  ENTRY(inner$);
  try {
    T();
    s += CALL(n);
    if (s & 1) throw error$ { s };
    T();
    if (s & 2) throw s;
    T();
  } catch (error$ &error) {
    T();
    if (error.value & NUM(2,4)) throw;
    T();
    s += 1;
  }
  T();
  return s;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  sigjmp_buf *outer = soak_target;
  for (int i = 0; i < NUM(1,3); i++) {
    try {
      s += inner$(s + i);
      T();
    } catch (error$ error) {
      soak_target = outer;
      T();
      s += error.value & 7;
    } ANY(catch (long) { soak_target = outer; s++; }|catch (char) { s--; })
    T();
    BODY();
  }
  return s;
}
