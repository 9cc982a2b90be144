#pragma once
#include <stdexcept>
#include <vector>
#include <string>
template <class T> T pick(bool a, T x, T y) { return a ? x : y; }
template <class T> struct Box {
  T v;
  T get() const { return v; }
  T unused() const { return v + v; }
};
inline int shared(int x) { if (x > 2) return 1; return x ? 2 : 3; }
static inline int never(int x) { return x > 0 && x < 10 ? x : -x; }
int other(int);
