// Bodies that attract each other: floating point over small arrays of structures, loops of fixed short trip counts.
//
//     nbody STEPS
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 8 };
struct body {
    double place[3], speed[3], mass;
};
static struct body bodies[BODIES];

static void advance(double step) {
    for (int i = 0; i < BODIES; i++) {
        for (int j = i + 1; j < BODIES; j++) {
            double apart[3], square = 0.01;
            for (int k = 0; k < 3; k++) {
                apart[k] = bodies[i].place[k] - bodies[j].place[k];
                square += apart[k] * apart[k];
            }
            double pull = step / (square * sqrt(square));
            for (int k = 0; k < 3; k++) {
                bodies[i].speed[k] -= apart[k] * bodies[j].mass * pull;
                bodies[j].speed[k] += apart[k] * bodies[i].mass * pull;
            }
        }
    }
    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 3; k++) bodies[i].place[k] += step * bodies[i].speed[k];
    }
}

static double energy(void) {
    double sum = 0;
    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 3; k++) sum += 0.5 * bodies[i].mass * bodies[i].speed[k] * bodies[i].speed[k];
        for (int j = i + 1; j < BODIES; j++) {
            double square = 0.01;
            for (int k = 0; k < 3; k++) {
                double apart = bodies[i].place[k] - bodies[j].place[k];
                square += apart * apart;
            }
            sum -= bodies[i].mass * bodies[j].mass / sqrt(square);
        }
    }
    return sum;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    unsigned state = 1;
    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 3; k++) {
            state = state * 1103515245u + 12345u;
            bodies[i].place[k] = (state >> 16) % 1000 / 100.0;
        }
        bodies[i].mass = 1 + i % 3;
    }
    printf("%.6f\n", energy());
    for (int steps = atoi(argv[1]); steps > 0; steps--) advance(0.0005);
    printf("%.3f\n", energy());
    return 0;
}
