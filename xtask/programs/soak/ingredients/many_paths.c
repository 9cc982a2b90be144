// More ways through a function than an array has room for.
__attribute__((noinline)) static long ways$(long n, long bits) {
  long s = n;
  ENTRY(ways$);
  for (int i = 0; i < NUM(1,6); i++) {
    if (bits & 1) s += 1;
    if (bits & 2) s ^= 5;
    if (bits & 4) s += 2; else s -= 1;
    if (bits & 8) {
      T();
      s += 3;
    }
    if (bits & 16) s ^= 9;
    if (bits & 32) s += CALL(s & 1);
    if (bits & 64) s += 4; else if (bits & 128) s -= 4;
    if (bits & 256) continue;
    if (bits & 512) s ^= 17;
    if (bits & 1024) s += 6;
    if (bits & 2048) s -= 6; else s += 1;
    if (bits & 4096) s ^= 33;
    if (bits & 8192) s += 8;
    T();
    bits = (bits * 5 + s) & 16383;
  }
  return s;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  s += ways$(s, s * 77 & 16383);
  T();
  return s;
}
