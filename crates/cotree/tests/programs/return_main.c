/* Nothing special: loops, switches with shared cases and a fall-through, short circuits, a do-while, a goto. */
#include "tally.h"
static int classify(int c) {
    switch (c) {
    case 'a': case 'e': case 'i': case 'o': case 'u':
        T(1);
        return 1;
    case ' ':
        T(2);
        c = 0;
        /* fall through */
    case '.':
        T(3);
        return c;
    case 'x': case 'y': case 'z':
        T(4);
        break;
    default:
        T(5);
        if (c > 'm' && c < 'w') {
            T(6);
            return 2;
        }
    }
    T(7);
    return 3;
}
int main(void) {
    const char *text = "the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs.";
    int seen[64] = {0}, sum = 0;
    for (const char *p = text; *p; p++) {
        T(8);
        sum += seen[classify(*p) & 63]++;
    }
    int i = 0;
again:
    T(9);
    do {
        T(10);
        i += 3;
        if (i % 7 == 0) {
            T(11);
            continue;
        }
        if (i > 50 || (i & 1 && i > 40)) {
            T(12);
            break;
        }
        T(13);
    } while (i < 100);
    if (i < 45 + sum % 3) {
        T(14);
        goto again;
    }
    printf("%d %d\n", sum, i);
    T(15);
    return 0;
}
