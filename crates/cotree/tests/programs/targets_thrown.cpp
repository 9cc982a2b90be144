// Callees of pointers that throw; counting that begins anew; a child that counts for itself. It prints what it has called, by callee.
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
extern "C" void cotree_reset(void) __attribute__((weak));
static long called[3];
#define CALLEE extern "C" __attribute__((noinline)) void
CALLEE stays(int) { called[0]++; }
CALLEE throws_seven(int i) { called[1]++; if (i % 7 == 0) throw i; }
CALLEE throws_five(int i) { called[2]++; if (i % 5 == 0) throw i; }
static void (*volatile table[])(int) = {stays, throws_seven, throws_five};
__attribute__((noinline)) static void call(int times) {
  for (int i = 0; i < times; i++) {
    try {
      table[(i * i + i / 9) % 3](i); // dispatch
    } catch (int) {
    }
  }
}
static void forget() { for (long &count : called) count = 0; }
static void tell(int process) { printf("%d %ld %ld %ld\n", process, called[0], called[1], called[2]); fflush(stdout); }
int main(int argc, char **) {
  call(1000);
  if (argc > 1) {
    cotree_reset();
    forget();
    call(501);
  }
  pid_t child = fork();
  if (!child) {
    forget();
    call(77);
    tell(getpid());
    return 0;
  }
  waitpid(child, nullptr, 0);
  call(10);
  tell(getpid());
}
