#include <stdio.h>
int theirs(int);
int numbers[1000];
static void fill(int n) {
    for (int i = 0; i < n; i++) numbers[i] = i ^ n; // 1000
}
int square(int x) { return x * x; }
int main(int argc, char **argv) {
    fill(argc * 1000);
    printf("%d %d\n", theirs(argc * 1000), numbers[7]);
    return 0;
}
