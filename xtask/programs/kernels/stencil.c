// Neighbours on grids: heat that spreads, the game of life, and an edit distance; conditions within the innermost loops.
//
//     stencil SIDE STEPS
#include <stdio.h>
#include <stdlib.h>

static int side;

static double heat(int steps) {
    double *now = calloc((size_t)side * side, sizeof *now), *next = calloc((size_t)side * side, sizeof *next);
    for (int i = 0; i < side; i++) now[i] = next[i] = 100;
    for (int step = 0; step < steps; step++) {
        for (int y = 1; y < side - 1; y++) {
            for (int x = 1; x < side - 1; x++) {
                const double *at = now + y * side + x;
                next[y * side + x] = 0.25 * (at[-1] + at[1] + at[-side] + at[side]);
            }
        }
        double *t = now;
        now = next;
        next = t;
    }
    double sum = 0;
    for (int i = 0; i < side * side; i++) sum += now[i];
    free(now);
    free(next);
    return sum;
}

static int life(int steps) {
    unsigned char *now = calloc((size_t)side * side, 1), *next = calloc((size_t)side * side, 1);
    unsigned state = 5;
    for (int i = 0; i < side * side; i++) {
        state = state * 1103515245u + 12345u;
        now[i] = (state >> 16) % 3 == 0;
    }
    for (int step = 0; step < steps; step++) {
        for (int y = 0; y < side; y++) {
            for (int x = 0; x < side; x++) {
                int neighbours = 0;
                for (int dy = -1; dy <= 1; dy++) {
                    for (int dx = -1; dx <= 1; dx++) {
                        int py = y + dy, px = x + dx;
                        if ((dx || dy) && py >= 0 && py < side && px >= 0 && px < side) neighbours += now[py * side + px];
                    }
                }
                next[y * side + x] = neighbours == 3 || (neighbours == 2 && now[y * side + x]);
            }
        }
        unsigned char *t = now;
        now = next;
        next = t;
    }
    int alive = 0;
    for (int i = 0; i < side * side; i++) alive += now[i];
    free(now);
    free(next);
    return alive;
}

static int distance(int length) {
    int *row = malloc((size_t)(length + 1) * sizeof *row);
    for (int i = 0; i <= length; i++) row[i] = i;
    for (int i = 1; i <= length; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int above = row[j];
            int best = corner + ((i * i * 7 + i) % 5 != (j * j * 3 + j) % 5);
            if (above + 1 < best) best = above + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            corner = above;
        }
    }
    int result = row[length];
    free(row);
    return result;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    side = atoi(argv[1]);
    int steps = atoi(argv[2]);
    printf("%.3f %d %d\n", heat(10 * steps), life(steps), distance(4 * side));
    return 0;
}
