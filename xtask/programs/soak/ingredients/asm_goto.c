// Assembly that goes somewhere.
__attribute__((noinline)) static long branch$(long n) {
  ENTRY(branch$);
  asm goto("test %0, %0\n\tjz %l[zero]\n\tjs %l[negative]" : : "r"(n) : "cc" : zero, negative);
  T();
  return 1;
zero:
  T();
  return 2;
negative:
  T();
  return 3;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  for (long i = -1; i < NUM(1,3); i++) {
    T();
    s += branch$(i);
    BODY();
  }
  return s;
}
