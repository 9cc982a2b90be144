// An interpreter that goes where its table says.
__attribute__((noinline)) static long interpret$(const unsigned char *code, long n) {
  static void *const labels[] = { &&add, &&call, &&skip, &&loop, &&end };
  long s = n;
  int turns = NUM(1,9);
  ENTRY(interpret$);
  goto *labels[*code++];
add:
  T();
  s = (s + 3) & 0xffff;
  goto *labels[*code++];
call:
  T();
  s += CALL(s & 7);
  T();
  goto *labels[*code++];
skip:
  T();
  code += s & 1;
  goto *labels[*code++];
loop:
  T();
  if (--turns > 0) code -= 3;
  goto *labels[*code++];
end:
  T();
  return s;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  static const unsigned char code[] = { 0, 0, ANY(0|1|2), ANY(0|1), 0, ANY(3|0), 2, 0, 0, ANY(1|2), 0, 0, 3, 4, 4, 4 };
  s += interpret$(code, s);
  BODY();
  return s;
}
