// `assert` is a macro of a system header, so its regions have no text here.
#include <assert.h>
static int f(int n) {
  if (n == 3)
    return 1;
  assert(n != 3);
  while (n > 5) {
    if (n == 7) { n--; continue; }
    assert(n);
    n--;
  }
  switch (n) {
  case 1: assert(n == 1); break;
  case 2:
    if (n == 9) break;
    assert(n == 2);
  }
  do
    assert(n >= 0);
  while (n-- > 1);
  if (n == 100)
    assert(n == 100);
  else
    assert(n != 100);
  for (int i = 0; i < 2; i++)
    assert(i < 2);
  if (n < 50) return 2; else assert(0);
  assert(n == 51);
  return 2;
}
int main(void) {
  for (int i = 0; i < 10; i++) f(i);
  assert(f(3) == 1);
}
