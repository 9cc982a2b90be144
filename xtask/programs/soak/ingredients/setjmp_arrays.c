// Jumps back into a loop whose frame grows and shrinks.
long p$(long n) {
  volatile long s = n;
  sigjmp_buf *outer = soak_target;
  ENTRY(p$);
  SPEND();
  for (volatile long turn = 0; turn < NUM(1,5); turn++) {
    char array[(s & 127) + NUM(1,40)];
    sigjmp_buf here[(turn & 1) + 1];
    memset(array, 3, sizeof array);
    soak_sink(array);
    T();
    soak_target = here;
    if (sigsetjmp(here[0], 0) == 0) {
      T();
      long more[(n & 15) + 1];
      more[0] = CALL(n + turn);
      soak_sink(more);
      T();
      if (more[0] & NUM(1,3)) siglongjmp(here[0], 1);
      s += more[0];
      T();
    } else {
      T();
      s += array[0];
    }
    soak_target = outer;
    STAY();
  }
  T();
  return s;
}
