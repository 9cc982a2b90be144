// A shared library that comes and goes, on threads too, and calls back into the program.
__attribute__((noinline)) static long load$(long n) {
  ENTRY(load$);
  void *library = dlopen("./library.so", ANY(RTLD_NOW|RTLD_LAZY));
  if (!library) _exit(96);
  soak_piece inside = (soak_piece)dlsym(library, "inside$");
  T();
  long s = inside(n);
  T();
  #optional
  dlclose(library);
  #end
  return s & 4095;
}
#optional
struct start$ { long n, fuel; };
static void *thread$(void *argument) {
  struct start$ *start = argument;
  ENTRY(thread$);
  soak_fuel = start->fuel;
  start->n = soak_guarded(load$, start->n);
  T();
  return 0;
}
__attribute__((noinline)) static long threads$(long n) {
  ENTRY(threads$);
  enum { COUNT = NUM(1,3) };
  struct start$ starts[COUNT];
  pthread_t threads[COUNT];
  if (soak_fuel < 8) return n;
  soak_fuel /= 2;
  for (int i = 0; i < COUNT; i++) {
    T();
    starts[i] = (struct start$){ n + i, soak_fuel / COUNT };
    if (pthread_create(&threads[i], 0, thread$, &starts[i]) != 0) _exit(96);
  }
  for (int i = 0; i < COUNT; i++) {
    pthread_join(threads[i], 0);
    n += starts[i].n;
  }
  T();
  return n & 4095;
}
#define threads$ threads$
#end
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  for (int i = 0; i < NUM(1,3); i++) {
    T();
    s += load$(s & 15);
    BODY();
  }
#ifdef threads$
  s += threads$(s & 15);
#endif
  T();
  return s;
}
#library
static long loads$;
__attribute__((constructor)) static void begin$(void) {
  ENTRY(begin$);
  loads$ += 2;
}
__attribute__((destructor)) static void end$(void) {
  ENTRY(end$);
  if (loads$ > 2) {
    T();
    loads$ = 0;
  }
}
__attribute__((noinline)) static long helper$(long n) {
  long s = n;
  ENTRY(helper$);
  for (int i = 0; i < NUM(1,5); i++) {
    T();
    s += i ^ n;
    BODY();
  }
  return s;
}
long inside$(long n) {
  long s = n;
  ENTRY(inside$);
  SPEND();
  s += helper$(s);
  T();
  s += CALL(s & 15);
  T();
  __atomic_fetch_add(&loads$, 1, __ATOMIC_RELAXED);
  return s & 4095;
}
