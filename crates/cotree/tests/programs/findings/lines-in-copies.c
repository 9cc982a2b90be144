volatile long a, b, c, d, e, f0;
long f(long x) { a += x; return x; }
long g(long x) { a -= x; return x; }
__attribute__((noinline)) long multi(long x, long y) {
  long s = f(x) + // 10
    g(y ? f(1) : g(2)); // 10
  a += s; // 10
  return s;
}
__attribute__((noinline)) long falls(long s) {
  switch (s % 5) {
  case 0:
    b += 1; // 2
  case 1: case 2: {
    c += 2; // 6
    long n = 3;
    if (s % 5 == 0) goto inside;
  again:
    f(s); // 16
    d += 3; // 16
  inside:
    e += 4; // 18
    if (--n > 0) goto again; // 18
  }
  default:
    f0 += 5; // 10
  }
  return s;
}
int main(int c, char **v) {
  (void)v;
  for (long i = 0; i < 10; i++) {
    multi(i, i & 1);
    falls(i + c);
  }
  return 0;
}
