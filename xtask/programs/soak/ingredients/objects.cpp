// Calls through virtual tables, members and lambdas; constructors that throw; static objects.
struct base$ {
  virtual long value(long n) {
    T();
    return n;
  }
  virtual ~base$() {
    T();
  }
};
struct derived$ : base$ {
  long kept;
  explicit derived$(long n) try : kept(n) {
    T();
    if (n & NUM(1,3)) throw n & 31;
    T();
  } catch (long) {
    T();
  }
  long value(long n) override {
    long s = n;
    T();
    BODY();
    return s + kept;
  }
  ~derived$() override {
    T();
  }
};
struct first_use$ {
  first_use$() {
    T();
  }
  ~first_use$() {
    T();
  }
};
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  static first_use$ first_use;
  sigjmp_buf *outer = soak_target;
  auto twice = [&](long x) {
    T();
    return s + x + CALL(x & 3);
  };
  for (int i = 0; i < NUM(1,3); i++) {
    try {
      T();
      derived$ object(s + i);
      base$ plain, &either = s & 1 ? plain : object;
      long (base$::*member)(long) = &base$::value;
      s += (either.*member)(s) & 255;
      T();
      s += twice(s) & 255;
    } catch (long caught) {
      soak_target = outer;
      T();
      s += caught;
    }
  }
  return s & 0xffff;
}
