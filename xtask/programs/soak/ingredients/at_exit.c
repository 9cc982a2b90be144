// What runs after main.
static __thread long registered$;
static void handler$(void) {
  ENTRY(handler$);
  soak_fuel = 6;
  soak_ending_in = 0;
  soak_guarded(CALLEE, 3);
  T();
}
__attribute__((destructor)) static void destructor$(void) {
  ENTRY(destructor$);
  soak_fuel = 4;
  soak_ending_in = 0;
  soak_guarded(CALLEE, 1);
  T();
}
__attribute__((constructor)) static void constructor$(void) {
  ENTRY(constructor$);
  soak_fuel = 4;
  soak_ending_in = 0;
  soak_guarded(CALLEE, 1);
  T();
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (registered$++ < 2) {
    T();
    ANY(atexit(handler$)|at_quick_exit(handler$));
  }
  BODY();
  return s;
}
