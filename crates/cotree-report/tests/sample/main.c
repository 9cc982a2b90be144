#include <stdlib.h>
static int square(int x) {
  return x * x;
}
int classify(int n) {
  if (n < 0)
    exit(1);
  switch (n) {
    case 0: return 1;
    case 1: return 2;
    default: return square(n);
  }
}
int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 0; i < argc * 10; i++) {
    sum += classify(i);
  }
  return sum;
}
