#include "lib.h"
int other(int x) { int r = shared(x) + shared(x + 5); for (auto c : std::string("abc")) r += c == 'b'; return r; }
struct Local { ~Local() { n++; } static int n; }; int Local::n;
int locals() { Local a, b; if (Local::n > 3) throw 1; return Local::n; }
