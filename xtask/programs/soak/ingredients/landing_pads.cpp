// Calls that share a landing pad, at which exceptions arrive, and others that nothing is thrown through.
struct keeper$ {
  long *s;
  ~keeper$() {
    T();
    *s += 1;
  }
};
extern "C" __attribute__((noinline)) long throws$(long n) {
  ENTRY(throws$);
  if ((n & NUM(1,7)) == NUM(0,2)) {
    T();
    throw n;
  }
  T();
  return n + 1;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  sigjmp_buf *outer = soak_target;
  for (int i = 0; i < NUM(1,4); i++) {
    try {
      keeper$ keeper{&s};
      T();
      s += throws$(s);
      T();
      s += throws$(s + i);
      #optional
      s += CALL(s);
      T();
      #end
      s += throws$(n + i);
      BODY();
    } catch (long caught) {
      soak_target = outer;
      T();
      s += caught & 15;
    }
    T();
  }
  return s;
}
