// Coroutines: stacks that the program changes by itself.
struct coroutine$ { ucontext_t inside, outside; long value; };
static __thread struct coroutine$ *running$;
static void body$(void) {
  ENTRY(body$);
  struct coroutine$ *mine = running$;
  for (int i = 0; i < NUM(1,4); i++) {
    T();
    mine->value += i;
    swapcontext(&mine->inside, &mine->outside);
  }
  T();
  mine->value = -1;
}
long p$(long n) {
  long s = n;
  ENTRY(p$);
  SPEND();
  struct coroutine$ *mine = malloc(sizeof *mine);
  char *stack = malloc(64 << 10);
  getcontext(&mine->inside);
  mine->inside.uc_stack.ss_sp = stack;
  mine->inside.uc_stack.ss_size = 64 << 10;
  mine->inside.uc_link = &mine->outside;
  mine->value = s & 255;
  makecontext(&mine->inside, body$, 0);
  for (int i = 0; i < NUM(1,3); i++) {
    T();
    running$ = mine;
    if (i > 0 && mine->value < 0) break;
    swapcontext(&mine->outside, &mine->inside);
    s += mine->value & 15;
    running$ = 0;
  }
  T();
  return s;
}
