// A profiled shared library.
#include "unit.h"
#include <stdexcept>
extern "C" void count_many(void) { for (int i = 0; i < 10000; i++) BUMP(1); }
extern "C" void throw_one(void) { BUMP(2); SITE("lib"); throw std::runtime_error("from the library"); }
extern "C" NOINLINE void deep_leave(void) { SITE("leave"); BUMP(3); exit(5); }
extern "C" void leave(void) { deep_leave(); BUMP(4); }
