#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T> T larger(T a, T b) {
  if (a < b)
    return b;
  return a;
}

template <typename T> struct Box {
  T value;
  explicit Box(T v) : value(v) {}
  bool empty() const { return value == T(); }
  T or_else(T other) const {
    return empty() ? other
                   : value;
  }
};

struct Guard {
  int *count;
  ~Guard() { if (*count > 0) ++*count; }
};

struct Base {
  virtual ~Base() = default;
  virtual int get() const { return 1; }
};
struct Derived : Base {
  int get() const override { return 2; }
};

static int risky(int x) {
  int count = 0;
  try {
    Guard guard{&count};
    if (x > 2)
      throw std::runtime_error("too much");
    count = x;
  } catch (const std::exception &error) {
    return -1;
  } catch (...) {
    return -2;
  }
  return count;
}

static int thrown_through(int x) {
  int result = risky(x);
  if (result < 0) throw result;
  return result;
}

int main(int argc, char **) {
  std::vector<int> values{3, 1, 2};
  int sum = 0;
  auto add = [&sum](int x) {
    if (x == 2) return;
    sum += x;
  };
  auto never = [](auto x) { return x ? 1 : 2; };
  for (int value : values) add(value);
  sum += larger(argc, 2) + static_cast<int>(larger(2.5, 1.5)) + static_cast<int>(larger<long>(3, 4));
  sum += Box<int>(0).or_else(3) + static_cast<int>(Box<std::string>("x").empty());
  try { thrown_through(1); thrown_through(5); sum++; }
  catch (int code) { sum += code; }
  Derived derived; Base &base = derived;
  sum += base.get();
  std::map<int, int> counts;
  for (auto &[key, count] : counts) { sum += key + count; }
  if (argc > 1 && (sum > 3 || argc < 9)) sum += never(1);
  if constexpr (sizeof(int) == 4) sum++; else sum--;
  std::printf("%d\n", sum);
}
