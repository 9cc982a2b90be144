// Branches and loops, and calls of others.
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  BODY();
  BODY();
  T();
  return s + CALL(n - 1);
}
