/* A signal finds the process in code of the executable that has no trace: of a static C library, of a plain object. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void spin(void);

__attribute__((noinline)) static void deep(int how, int n) {
  if (n > 0) {
    deep(how, n - 1);
  } else if (how == 0) {
    raise(SIGTERM);
  } else if (how == 1) {
    for (;;) pause();
  } else {
    alarm(1);
    spin();
  }
}

static void *thread(void *ready) {
  pthread_barrier_wait(ready);
  deep(1, 2);
  return 0;
}

int main(int argc, char **argv) {
  int how = atoi(argv[argc - 1]);
  if (how == 1) {
    pthread_barrier_t ready;
    pthread_t sleeper;
    pthread_barrier_init(&ready, 0, 2);
    pthread_create(&sleeper, 0, thread, &ready);
    pthread_barrier_wait(&ready);
    usleep(1000);
    exit(0);
  }
  deep(how, 2);
  return 0;
}
