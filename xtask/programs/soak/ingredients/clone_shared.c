// A child of clone in the memory of its parent, as posix_spawn makes it.
#include <sched.h>
static int child$(void *argument) {
  ENTRY(child$);
  if ((long)argument & 1) {
    T();
    execl("/bin/true", "true", (char *)0);
  }
  T();
  ANY(_exit(3)|execl("/bin/false", "false", (char *)0));
  T();
  return 4;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  if (soak_fuel < 20) return s;
  soak_fuel -= 20;
  char *stack = malloc(256 << 10);
  T();
  pid_t child = clone(child$, stack + (256 << 10), ANY(CLONE_VM + CLONE_VFORK|CLONE_VM) + SIGCHLD, (void *)s);
  if (child < 0) _exit(96);
  int status = 0;
  waitpid(child, &status, 0);
  free(stack);
  T();
  return s + status;
}
