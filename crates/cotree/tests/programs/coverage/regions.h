// Both units include it; one of them never calls `halved`.
#define CLAMPED(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
#define TWICE(x) CLAMPED(x, CLAMPED(x, 1, 3), 9)
#define CHECK(x) \
  do {           \
    if (!(x))    \
      failures++;\
  } while (0)

static inline int halved(int x) {
  if (x % 2)
    return -1;
  return x / 2;
}

static inline int unused(int x) { return x > 3 && x < 9 ? TWICE(x) : x; }
