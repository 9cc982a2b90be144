// Functions with any number of arguments, some of which call back.
__attribute__((noinline)) static long sum$(int count, ...) {
  long s = count, n = count;
  va_list list;
  ENTRY(sum$);
  va_start(list, count);
  for (int i = 0; i < count; i++) {
    if (i % 3 == 2) {
      T();
      s += (long)va_arg(list, double);
    } else if (i % 3 == 1) {
      T();
      soak_piece piece = va_arg(list, soak_piece);
      s += soak_guarded(piece, s & 3);
    } else {
      T();
      s += va_arg(list, long);
    }
  }
  va_end(list);
  BODY();
  return s & 0xffff;
}
__attribute__((noinline)) static long format$(char *out, const char *format, ...) {
  ENTRY(format$);
  va_list list;
  va_start(list, format);
  int length = vsnprintf(out, 60, format, list);
  va_end(list);
  T();
  return length;
}
long p$(long n) {
  long s = n;
  char text[64];
  ENTRY(p$);
  SPEND();
  s += sum$(NUM(0,3), s, CALLEE, 2.5);
  s += format$(text, "%ld %s %Lf", s, "text", (long double)n);
  BODY();
  return s + text[0];
}
