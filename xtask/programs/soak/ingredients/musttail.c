// States that call each other and leave no frame behind.
static long even$(long n, long s);
__attribute__((noinline)) static long odd$(long n, long s) {
  ENTRY(odd$);
  if (n <= 0) {
    T();
    return s;
  }
  #optional
  s += CALL(s & 3);
  #end
  T();
  __attribute__((musttail)) return even$(n - 1, s + 1);
}
__attribute__((noinline)) static long even$(long n, long s) {
  ENTRY(even$);
  if (n <= 0) {
    T();
    return s;
  }
  T();
  if (s & 1) {
    T();
    __attribute__((musttail)) return odd$(n - 1, s + 2);
  }
  T();
  __attribute__((musttail)) return odd$(n - 2, s + 3);
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  s += odd$(NUM(0,40), s & 7);
  BODY();
  return s;
}
