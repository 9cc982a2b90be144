// Variables that clean up behind themselves, whichever way they are left.
__attribute__((noinline)) static void clean$(long *value) {
  ENTRY(clean$);
  *value += 1;
  T();
}
__attribute__((noinline)) static long scope$(long n) {
  long s = n;
  ENTRY(scope$);
  for (int i = 0; i < NUM(1,3); i++) {
    long value __attribute__((cleanup(clean$))) = s;
    T();
    s += CALL(value & 7);
    T();
    if (s & 4) continue;
    T();
    long other __attribute__((cleanup(clean$))) = i;
    s += CALL(other);
    BODY();
    if (s & 8) break;
    T();
  }
  return s;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  s += scope$(s);
  T();
  return s;
}
