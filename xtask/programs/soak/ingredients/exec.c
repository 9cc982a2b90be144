// A child that becomes this program again, or tries to become one that is not there.
extern char **environ;
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 20) return s;
  soak_fuel -= 20;
  char piece[12];
  snprintf(piece, sizeof piece, "%d", NUM(0,1));
  char *arguments[] = { (char *)soak_self, piece, 0 };
  T();
  pid_t child = ANY(fork()|fork()|vfork());
  if (child == 0) {
    #optional
    execv("/nowhere/at/all", arguments);
    #end
    execve(soak_self, arguments, environ);
    _exit(95);
  }
  int status = 0;
  waitpid(child, &status, 0);
  T();
  s += status >> 8;
  #optional
  if (posix_spawn(&child, soak_self, 0, 0, arguments, environ) == 0) {
    T();
    waitpid(child, &status, 0);
    s += status >> 8;
  }
  #end
  T();
  return s;
}
