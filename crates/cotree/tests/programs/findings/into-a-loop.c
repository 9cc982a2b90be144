volatile long sink;
__attribute__((noinline)) long work(long s) {
  long n = 3;
  if ((s & 8) == 0) goto inside; // 2
again:
  sink += 1; // 5
  long x = s & 31; // 5
  while (x > 0) {
    x -= 4; // 10
    sink += x;
  }
inside:
  sink += 2; // 6
  if (--n > 0) goto again; // 6
  return sink; // 2
}
int main(int argc, char **argv) {
  (void)argv;
  return work(argc - 1 + 8) + work(argc - 1 + 6) < 0; // 1
}
