/* An interpreter with computed gotos. */
#include "tally.h"
static int run(const unsigned char *code) {
    static const void *const ops[] = {&&halt, &&inc, &&dec, &&jnz, &&nop};
    int acc = 7, steps = 0;
    T(1);
#define NEXT goto *ops[*code++]
    NEXT;
inc:
    T(2);
    acc++;
    steps++;
    NEXT;
dec:
    T(3);
    acc--;
    if (acc == 3) {
        T(4);
        goto nop;
    }
    NEXT;
jnz:
    T(5);
    if (acc) {
        T(6);
        code -= *code;
    } else {
        T(7);
        code++;
    }
    NEXT;
nop:
    T(8);
    steps += 2;
    NEXT;
halt:
    T(9);
    return steps;
}
int main(int argc, char **argv) {
    static const unsigned char program[] = {1, 1, 4, 2, 3, 2, 4, 1, 2, 0};
    int sum = 0;
    for (int i = 0; i < 50; i++) {
        T(10);
        sum += run(program + (i & 1));
    }
    printf("%d\n", sum);
    return 0;
}
