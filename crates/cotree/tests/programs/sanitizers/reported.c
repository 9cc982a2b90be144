// What a sanitizer reports, by argument, in the eleventh call of `step`.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef CALLBACK
void __sanitizer_set_death_callback(void (*callback)(void));
__attribute__((noinline)) static void say(int n) { for (int i = 0; i < n; i++) puts("dying"); }
static void dying(void) { say(3); fflush(stdout); }
#endif
__attribute__((noinline)) static int step(int *numbers, int i) {
#ifdef OVERFLOW
    return numbers[i % 10] + (INT_MAX - 10 + i);
#elif defined UNINITIALISED
    if (i < 10) numbers[i] = 0;
    return numbers[i] ? puts("never") : 2;
#else
    return numbers[i];
#endif
}
int main(int argc, char **argv) {
    int *numbers = malloc(sizeof *numbers * (sizeof(int) == 4 && argv[0] ? 10 + SPARE : 0));
    numbers[0] = argc;
#ifdef CALLBACK
    __sanitizer_set_death_callback(dying);
#endif
    int sum = 0;
    for (int i = 0; i < 11; i++) sum ^= step(numbers, i);
    numbers = 0;
    return sum == 77;
}
