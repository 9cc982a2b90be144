// Exceptions, jumps and objects that cross from the program to a library that it loads, and back.
typedef long (*thrower$)(long);
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  sigjmp_buf *outer = soak_target;
  void *library = dlopen("./library.so", RTLD_NOW);
  if (!library) _exit(96);
  thrower$ thrower = reinterpret_cast<thrower$>(dlsym(library, "thrower$"));
  for (int i = 0; i < NUM(1,3); i++) {
    try {
      T();
      s += thrower(s + i) & 255;
      T();
    } catch (long caught) {
      soak_target = outer;
      T();
      s += caught & 255;
    }
    BODY();
  }
  dlclose(library);
  T();
  return s;
}
#library
struct keeper$ {
  long *s;
  ~keeper$() {
    T();
    *s += 1;
  }
};
extern "C" long thrower$(long n) {
  long s = n;
  ENTRY(thrower$);
  SPEND();
  keeper$ keeper{&s};
  if (s & NUM(1,3)) {
    T();
    throw s & 63;
  }
  T();
  s += CALL(s & 15);
  T();
  return s;
}
