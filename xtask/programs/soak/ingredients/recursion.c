// Functions that call each other, directly, through tables, and as their last deed.
static long second$(long n, long depth), third$(long n, long depth);
typedef long (*function$)(long, long);
static function$ volatile next$ = third$;
__attribute__((noinline)) static long first$(long n, long depth) {
  long s = n;
  ENTRY(first$);
  if (depth <= 0) {
    T();
    return s & 255;
  }
  T();
  s += second$(s & 15, depth - 1);
  if (s & 1) {
    T();
    s += next$(s & 7, depth - 2);
  }
  T();
  return s & 0xffff;
}
__attribute__((noinline)) static long second$(long n, long depth) {
  long s = n;
  ENTRY(second$);
  if (depth <= 0) {
    T();
    return CALL(s);
  }
  T();
  return first$(s + 1, depth - 1);
}
__attribute__((noinline)) static long third$(long n, long depth) {
  long s = n;
  ENTRY(third$);
  T();
  BODY();
  if (depth <= 0) return s;
  T();
  return next$(s, depth - 1);
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  s += first$(s, NUM(0,8));
  return s;
}
