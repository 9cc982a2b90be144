#include "regions.h"

int other(int x) { return halved(x) > 0 ?
    halved(x)
  : 7; }
