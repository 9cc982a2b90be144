// A child that is killed while it waits.
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 20) return s;
  soak_fuel -= 20;
  int ready[2];
  char byte = 1;
  if (pipe(ready) != 0) _exit(96);
  pid_t child = fork();
  if (child == 0) {
    T();
    s = soak_apart(CALLEE, n, 10);
    T();
    if (write(ready[1], &byte, 1) != 1) _exit(96);
    for (;;) pause();
  }
  close(ready[1]);
  if (read(ready[0], &byte, 1) != 1) _exit(96);
  T();
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  close(ready[0]);
  T();
  return s + status;
}
