// The compiler's own setjmp and longjmp.
__attribute__((noinline)) static void leave$(void **target, long n) {
  ENTRY(leave$);
  if (n > 0) {
    T();
    leave$(target, n - 1);
    T();
  }
  T();
  __builtin_longjmp(target, 1);
}
__attribute__((noinline)) static long turn$(long n) {
  void *target[5];
  volatile long s = n;
  ENTRY(turn$);
  if (__builtin_setjmp(target) == 0) {
    T();
    if (s & 1) leave$(target, NUM(0,3));
    T();
    return s;
  }
  T();
  return s + 2;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  for (int i = 0; i < NUM(1,4); i++) {
    T();
    s += turn$(s + i) & 255;
    BODY();
  }
  return s;
}
