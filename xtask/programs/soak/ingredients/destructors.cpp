// Destructors that catch exceptions while another one unwinds, and destructors that throw.
extern "C" __attribute__((noinline)) long fails$(long n) {
  ENTRY(fails$);
  if (n & NUM(1,3)) {
    T();
    throw n & 255;
  }
  T();
  return n;
}
struct catches$ {
  long *s;
  ~catches$() {
    T();
    sigjmp_buf *outer = soak_target;
    try {
      *s += fails$(*s);
      T();
    } catch (long caught) {
      soak_target = outer;
      T();
      *s += caught;
    }
    T();
  }
};
struct throws$ {
  long *s;
  ~throws$() noexcept(false) {
    T();
    if (std::uncaught_exceptions() == 0 && (*s & 1)) {
      T();
      throw *s & 63;
    }
    T();
  }
};
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  sigjmp_buf *outer = soak_target;
  for (int i = 0; i < NUM(1,4); i++) {
    try {
      catches$ first{&s};
      ANY(throws$|catches$) second{&s};
      T();
      s += soak_guarded(CALLEE, s & 7);
      s += fails$(s + i);
      T();
    } catch (long caught) {
      soak_target = outer;
      T();
      s += caught;
      BODY();
    }
    s &= 0xfffff;
  }
  return s;
}
