#include <cstdio>

static int numbers[16];
static volatile int sink;

struct Guard {
  int n;
  explicit Guard(int n) : n(n) { numbers[n & 15]++; }
  ~Guard() { if (n % 2) numbers[(n + 1) & 15] += n; }
};

__attribute__((noinline)) static int thrower(int n) {
  Guard guard(n);
  if (n % 3 == 0) throw n;
  if (n % 5 == 0) throw static_cast<long>(n);
  return numbers[n & 15];
}

__attribute__((noinline)) static int middle(int n) {
  Guard outer(n + 1);
  numbers[n & 15] = thrower(n + sink % 2);
  return numbers[3];
}

static int rethrows(int n) {
  try {
    return middle(n);
  } catch (int caught) {
    numbers[5] += caught;
    if (caught % 2) throw;
    return numbers[caught & 15];
  }
}

int main() {
  int sum = 0;
  for (int i = 1; i < 60; i++) {
    try {
      sum += rethrows(i) + numbers[i & 15];
    } catch (int caught) {
      sum += caught + numbers[0];
    } catch (long caught) {
      sum -= numbers[caught & 15];
    }
  }
  std::printf("%d\n", sum);
  return sum & 1;
}
