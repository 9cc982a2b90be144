// Threads, and handlers, with hardly any stack.
#include <limits.h>
static void handler$(int number) {
  ENTRY(handler$);
  if (number & 1) {
    T();
    return;
  }
  T();
}
__attribute__((noinline)) static long short$(long n) {
  ENTRY(short$);
  if (n & 1) {
    T();
    return n + 1;
  }
  T();
  return n;
}
static void *thread$(void *argument) {
  ENTRY(thread$);
  long s = (long)argument;
  for (int i = 0; i < NUM(1,9); i++) {
    T();
    s += short$(s + i) & 3;
  }
  T();
  return 0;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  pthread_t thread;
  // What other libraries have per thread may leave no room.
  if (pthread_create(&thread, &attributes, thread$, (void *)s) != 0) {
    T();
    return s;
  }
  pthread_join(thread, 0);
  pthread_attr_destroy(&attributes);
  T();
  #optional
  stack_t stack, before;
  memset(&stack, 0, sizeof stack);
  stack.ss_size = MINSIGSTKSZ;
  stack.ss_sp = malloc(stack.ss_size);
  if (sigaltstack(&stack, &before) == 0) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler$;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGRTMIN + $, &action, 0);
    pthread_kill(pthread_self(), SIGRTMIN + $);
    T();
    sigaltstack(&before, 0);
  }
  free(stack.ss_sp);
  #end
  BODY();
  return s;
}
