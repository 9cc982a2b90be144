// A switch into the middle of a loop.
__attribute__((noinline)) static long copy$(long n) {
  long s = n, left = (n & 15) + 1, turns = (left + 3) / 4;
  ENTRY(copy$);
  switch (left % 4) {
  case 0:
    do {
      T();
      s += 1;
    case 3:
      T();
      s ^= 2;
    case 2:
      T();
      s += CALL(s & 1);
    case 1:
      T();
      s += 4;
    } while (--turns > 0);
  }
  T();
  return s;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  s += copy$(s);
  BODY();
  s += copy$(s + 1);
  return s;
}
