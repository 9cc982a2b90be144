#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int numbers[64];
static unsigned char bytes[64];
static double halves[16];
static volatile int wanted;
static sigjmp_buf back;
void log_handlers(char *stack, unsigned long size);

struct pair { long first; short second; };

static int is(const char *how, const char *what) { return !strcmp(how, what); }

__attribute__((noinline)) static int sum(const int *from, int count) {
  int total = 0;
  for (int i = 0; i < count; i++)
    if (from[i] & 1) total += from[i];
    else if (from[i] > 8) total -= bytes[from[i] & 63];
  return total;
}

/// One way through it, and still it tells addresses.
__attribute__((noinline)) static void swap(int *a, int *b) {
  int kept = *a;
  *a = *b;
  *b = kept;
}

__attribute__((noinline)) static void leave(int depth, const char *how) {
  numbers[depth & 63]++;
  if (depth > 0) {
    leave(depth - 1, how);
    numbers[depth & 63]--;
    return;
  }
  if (is(how, "exit")) exit(3);
  if (is(how, "_exit")) _exit(3);
  if (is(how, "abort")) abort();
  if (is(how, "jump")) siglongjmp(back, 1);
  if (is(how, "kill")) raise(SIGKILL);
}

static void work(const char *how) {
  struct pair *pairs = calloc(8, sizeof *pairs);
  for (int i = 0; i < 64; i++) numbers[i] = i * 7 % 23, bytes[i] = i;
  for (int i = 0; i < 16; i++) halves[i] = i / 2.0;
  for (int i = 0; i < 63; i++)
    if (numbers[i] > numbers[i + 1]) swap(&numbers[i], &numbers[i + 1]);
  for (int i = 0; i < 8; i++) pairs[i].first = sum(numbers + i, 8), pairs[i].second = i;
  for (int i = 7; i >= 0; i--)
    switch (pairs[i].second % 4) {
    case 0: halves[i] += pairs[i].first; break;
    case 1: bytes[i]--; // and on
    case 2: bytes[i + 1]++; break;
    default: numbers[i] ^= 1;
    }
  if (sigsetjmp(back, 1) == 0) leave(3, how);
  else numbers[5] += numbers[6];
  free(pairs);
}

static void *thread(void *how) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one);
  work(how);
  pthread_mutex_unlock(&one);
  for (int i = 0; i < 200; i++) __atomic_fetch_add(&wanted, i, __ATOMIC_RELAXED), bytes[i & 63]++;
  return 0;
}

static void handler(int signal) {
  numbers[signal & 63] += bytes[signal & 63];
  if (signal == SIGSEGV) siglongjmp(back, 2);
  wanted = 0;
}

static void on_own_stack(int signal) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(signal, &action, 0);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "return";
  char *stack = malloc(1 << 16);
  stack_t alternate;
  alternate.ss_sp = stack;
  alternate.ss_size = 1 << 16;
  alternate.ss_flags = 0;
  sigaltstack(&alternate, 0);
  log_handlers(stack, 1 << 16);
  if (is(how, "threads")) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, thread, "jump");
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  }
  if (is(how, "signals")) {
    on_own_stack(SIGUSR1);
    on_own_stack(SIGSEGV);
    on_own_stack(SIGALRM);
    for (int i = 0; i < 5; i++) raise(SIGUSR1);
    for (int i = 0; i < 5; i++)
      if (sigsetjmp(back, 1) == 0) {
        int *volatile nowhere = (int *)(uintptr_t)(8 * i);
        numbers[i] = 1, *nowhere = numbers[i + 1], numbers[i + 2] = 3;
      } else numbers[i]++;
    for (int i = 0; i < 3; i++) {
      wanted = 1;
      ualarm(3000, 0);
      while (wanted) bytes[wanted]++;
    }
  }
  if (is(how, "fault")) {
    int *volatile nowhere = 0;
    numbers[0] = *nowhere;
  }
  if (is(how, "fork")) {
    pid_t child = fork();
    work("return");
    if (!child) exit(4);
    waitpid(child, 0, 0);
  }
  work(how);
  while (is(how, "endless")) work("return");
  printf("numbers %p\nbytes %p\nhalves %p\n", (void *)numbers, (void *)bytes, (void *)halves);
  return numbers[5] & 1;
}
