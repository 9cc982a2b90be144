// A loop around setjmp, whose target others jump to, over any number of frames.
long p$(long n) {
  volatile long s = n;
  sigjmp_buf here, *outer = soak_target;
  ENTRY(p$);
  SPEND();
  for (volatile long turn = 0; turn < NUM(1,4); turn++) {
    T();
    soak_target = &here;
    if (ANY(sigsetjmp(here, 1)|sigsetjmp(here, 0)) == 0) {
      T();
      s += CALL(n + turn);
      T();
      STAY();
    } else {
      T();
      s += 3;
    }
    soak_target = outer;
    BODY();
  }
  T();
  return s;
}
