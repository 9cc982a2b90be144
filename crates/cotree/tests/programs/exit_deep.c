/* exit() at the bottom of a recursion, from inside loops and conditions of every frame. */
#include "tally.h"
static int depth_reached;
static void leave(int code) {
    T(1);
    if (code > 2) {
        T(2);
        exit(code);
        T(3);
    }
    T(4);
}
static int dig(int depth) {
    int sum = 0;
    T(5);
    for (int i = 0; i < 4; i++) {
        T(6);
        if (depth == 0 && i == 2) {
            T(7);
            leave(7);
            T(8);
        }
        if (i == 2) {
            T(9);
            sum += dig(depth - 1);
            T(10);
        }
        T(11);
        sum += i ^ depth;
    }
    T(12);
    return sum + depth_reached;
}
int main(int argc, char **argv) {
    T(13);
    leave(argc);
    T(14);
    for (int i = 0; i < 3; i++) {
        T(15);
        depth_reached += i;
    }
    printf("%d\n", dig(5 + argc));
    T(16);
    return 0;
}
