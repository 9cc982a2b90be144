#include "lib.h"
#include <cstdio>
int locals();
static int risky(int x) {
  if (x % 3 == 0) throw std::runtime_error("three");
  return x;
}
enum class E { A, B, C };
static const char *name(E e) {
  switch (e) {
  case E::A: return "a";
  case E::B: return "b";
  default: return "c";
  }
}
int main(int argc, char **) {
  int sum = 0;
  auto f = [&](int x) { sum += x; return sum > 5 || x == 0; };
  for (int i = 0; i < 10; i++) {
    try {
      sum += risky(i);
      if (f(i) && i != 4) sum--;
      sum += locals();
    } catch (const std::exception &e) {
      sum += pick(i > 3, 1, 2);
    } catch (int) {
      sum++;
    }
    while (sum > 100) { sum -= 50; continue; }
  }
  Box<int> b{3};
  Box<double> d{2};
  std::vector<int> v{1, 2, 3};
  for (auto &x : v) sum += x > 1 ? other(x) : 0;
  printf("%d %d %s %s %g\n", sum, b.get(), name(E::A), name(E::C), pick(argc > 1, d.get(), 1.0));
  goto end;
end:
  return sum == -1;
}
