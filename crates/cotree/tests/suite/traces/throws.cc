#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static volatile int sink;

struct Guard {
  int n;
  explicit Guard(int n) : n(n) { sink = sink + 1; }
  ~Guard() { if (n % 2) sink = sink + n; }
};

__attribute__((noinline)) static int thrower(int n) {
  Guard guard(n);
  if (n % 3 == 0) throw n;
  if (n % 5 == 0) throw std::runtime_error("five");
  return n;
}

__attribute__((noinline)) static int middle(int n) {
  Guard outer(n + 1);
  std::vector<int> values(n % 4 + 1);
  for (int &value : values) value = thrower(n + sink % 2);
  return values.back();
}

static int rethrows(int n) {
  try {
    return middle(n);
  } catch (int caught) {
    Guard guard(caught);
    if (caught % 2) throw;
    return -caught;
  }
}

int main() {
  int sum = 0;
  for (int i = 0; i < 30; i++) {
    try {
      sum += rethrows(i);
    } catch (const std::exception &error) {
      sum += std::string(error.what()).size();
    } catch (...) {
      sum += 100;
    }
  }
  std::printf("%d\n", sum);
  return 0;
}
