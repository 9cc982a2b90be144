// A child that borrows its parent's memory, and counts there.
__attribute__((noinline)) static void inside$(long n) {
  ENTRY(inside$);
  for (int i = 0; i < NUM(1,5); i++) {
    T();
    if ((n ^ i) & 1) continue;
    T();
  }
  #optional
  T();
  _exit(NUM(1,9));
  #end
  T();
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 20) return s;
  soak_fuel -= 20;
  for (int i = 0; i < NUM(1,3); i++) {
    T();
    pid_t child = vfork();
    if (child == 0) {
      T();
      inside$(s);
      ANY(_exit(3)|execl("/bin/true", "true", (char *)0)|execl("/nowhere", "nowhere", (char *)0));
      _exit(4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    s += status >> 8;
    T();
  }
  BODY();
  return s;
}
