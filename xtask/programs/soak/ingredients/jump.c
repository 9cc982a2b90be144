// A jump to the innermost target, if there is one.
__attribute__((noinline)) static void leave$(long s) {
  ENTRY(leave$);
  if (soak_target && (s & NUM(1,3))) {
    T();
    siglongjmp(*soak_target, ANY(1|2|-1));
  }
  T();
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  BODY();
  s += CALL(n ^ 5);
  T();
  leave$(s);
  T();
  return s;
}
