// A child of clone, with a copy of the memory and a stack of its own.
#include <sched.h>
static int child$(void *argument) {
  ENTRY(child$);
  long s = soak_apart(CALLEE, (long)argument, 10);
  T();
  ANY(_exit(3)|return 4|exit(5)|execl("/bin/true", "true", (char *)0));
  T();
  return (int)s;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 20) return s;
  soak_fuel -= 20;
  char *stack = malloc(256 << 10);
  T();
  pid_t child = clone(child$, stack + (256 << 10), SIGCHLD, (void *)(s & 31));
  if (child < 0) _exit(96);
  int status = 0;
  waitpid(child, &status, 0);
  free(stack);
  T();
  return s + status;
}
