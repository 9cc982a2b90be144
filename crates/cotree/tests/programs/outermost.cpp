// Recursion that exceptions leave: how many allocations happened while functions were under way at all, by a stack that
// the program keeps itself.
#include <cstdio>
#include <cstdlib>
#define APART __attribute__((noinline)) static
enum { DIG, TRY, CLEAN, SHARED, MUTUAL, COUNT };
static const char *const names[] = {"dig", "attempt", "clean", "shared", "mutual"};
static long now, inclusive[COUNT], began[COUNT], depth[COUNT];
static int height, stack[4096];
static void *volatile kept;
APART int enter(int function) {
  if (depth[function]++ == 0) began[function] = now;
  stack[height++] = function;
  return height - 1;
}
APART void leave_to(int below) {
  while (height > below) {
    int function = stack[--height];
    if (--depth[function] == 0) inclusive[function] += now - began[function];
  }
}
APART void event(int times) {
  for (int i = 0; i < times; i++) { now++; kept = malloc(1); }
}
// What it is destroyed in has been left when it comes by an exception.
struct Cleanup {
  int below = height;
  ~Cleanup() {
    leave_to(below);
    event(1);
  }
};
extern "C" {
int dig(int n) {
  int below = enter(DIG);
  event(1);
  if (n == 0) throw 1;
  int result = dig(n - 1);
  event(1);
  leave_to(below);
  return result;
}
// Objects are destroyed on the way.
int clean(int n) {
  int below = enter(CLEAN);
  Cleanup cleanup;
  event(1);
  if (n % 3 == 0) { Cleanup more; dig(n % 2); }
  int result = n ? clean(n - 1) : 1;
  leave_to(below);
  return result;
}
// Some of its activations catch, and recur.
int attempt(int n) {
  int below = enter(TRY), result = n;
  event(1);
  try {
    if (n % 2) result = attempt(n - 1);
    dig(n % 4);
  } catch (int) {
    leave_to(below + 1);
    event(2);
    if (n > 1) result = attempt(n - 2);
  }
  leave_to(below);
  return result;
}
// Two calls of itself and one of another function lead to one landing pad.
int shared(int n) {
  int below = enter(SHARED);
  event(1);
  try {
    if (n > 0) shared(n - 1);
    if (n > 1) shared(n - 2);
    if (n % 2 == 0) dig(n);
    event(1);
  } catch (int) {
    leave_to(below + 1);
    event(3);
    if (n == 3) throw;
  }
  leave_to(below);
  return n;
}
int mutual(int n);
}
static int (*volatile chosen)(int);
extern "C" int mutual(int n) {
  int below = enter(MUTUAL), result = 0;
  event(1);
  chosen = n % 2 ? mutual : shared;
  try {
    if (n > 0) result = chosen(n - 1);
  } catch (int) {
    leave_to(below + 1);
    event(1);
    if (n > 4) result = mutual(n - 3);
  }
  leave_to(below);
  return result;
}
int main() {
  try { dig(5); } catch (int) { leave_to(0); }
  try { clean(8); } catch (int) { leave_to(0); }
  attempt(7);
  attempt(4);
  try { shared(6); } catch (int) { leave_to(0); }
  try { shared(3); } catch (int) { leave_to(0); }
  for (int n = 0; n < 9; n++) try { mutual(n); } catch (int) { leave_to(0); }
  for (int function = 0; function < COUNT; function++) std::printf("%s %ld\n", names[function], inclusive[function]);
}
