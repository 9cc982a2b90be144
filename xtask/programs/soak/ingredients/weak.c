// References that may be null, definitions that may be replaced, aliases, and a resolver.
extern long missing$(long n) __attribute__((weak));
extern int soak_nothing(void) __attribute__((weak));
__attribute__((weak, noinline)) long weak$(long n) {
  ENTRY(weak$);
  return n + 1;
}
long alias$(long n) __attribute__((alias("weak$")));
__attribute__((noinline)) static long chosen$(long n) {
  long s = n;
  ENTRY(chosen$);
  BODY();
  T();
  return s;
}
__attribute__((no_profile_instrument_function)) static soak_piece resolve$(void) { return chosen$; }
long indirect$(long n) __attribute__((ifunc("resolve$")));
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (missing$) {
    T();
    s += missing$(n);
  }
  if (soak_nothing && soak_nothing()) {
    T();
    s++;
  }
  T();
  s += weak$(s) + alias$(n);
  s += indirect$(s & 7);
  T();
  return s & 0xffff;
}
