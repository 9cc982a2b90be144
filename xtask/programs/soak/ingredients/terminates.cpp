// A child that ends since an exception may go no further.
extern "C" __attribute__((noinline)) long throws$(long n) {
  ENTRY(throws$);
  if (n & NUM(1,3)) {
    T();
    throw n;
  }
  T();
  return n + 1;
}
struct hard$ {
  long *s;
  ~hard$() {
    T();
    *s += throws$(*s);
    T();
  }
};
extern "C" __attribute__((noinline)) long never$(long n) noexcept {
  long s = n;
  ENTRY(never$);
  for (int i = 0; i < NUM(1,3); i++) {
    T();
    ANY(s += throws$(s)|hard$ hard{&s}; s += throws$(s + 1));
    T();
  }
  return s;
}
extern "C" void handler$() {
  ENTRY(handler$);
  ANY(abort()|_exit(6)|exit(7));
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 20) return s;
  soak_fuel -= 20;
  pid_t child = fork();
  if (child == 0) {
    T();
    std::set_terminate(handler$);
    try {
      s += never$(s);
      T();
    } catch (long caught) {
      T();
    }
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  T();
  return s + status;
}
