// Frames whose size no one knows before.
__attribute__((noinline)) static long grows$(long n) {
  long s = n;
  ENTRY(grows$);
  for (int i = 0; i < NUM(1,4); i++) {
    char *memory = __builtin_alloca((s & 255) + 16);
    memset(memory, i, 16);
    soak_sink(memory);
    T();
    s += CALL(s & 15) + memory[3];
    T();
    double table[(s & 31) + 2];
    table[0] = s;
    table[s & 1] += i;
    soak_sink(table);
    s = (s + (long)table[0]) & 0xffff;
    BODY();
  }
  return s;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  s += grows$(s);
  T();
  return s;
}
