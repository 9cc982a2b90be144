#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
__attribute__((noinline)) static int check(const uint8_t*d, size_t n){ if(n>2 && d[0]=='a' && d[1]=='b') abort(); return 0; }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n){ return check(d,n); }
