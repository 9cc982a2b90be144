// The fast Fourier transform, forth and back: loops whose trip counts halve and double, and a bit reversal.
//
//     fft BITS ROUNDS
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void transform(double *re, double *im, int size, const double *cosines, const double *sines, int sign) {
    for (int i = 1, j = 0; i < size; i++) {
        int bit = size >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) {
            double t = re[i];
            re[i] = re[j];
            re[j] = t;
            t = im[i];
            im[i] = im[j];
            im[j] = t;
        }
    }
    for (int length = 2; length <= size; length *= 2) {
        int half = length / 2, stride = size / length;
        for (int start = 0; start < size; start += length) {
            for (int k = 0; k < half; k++) {
                double wr = cosines[k * stride], wi = sign * sines[k * stride];
                double *r0 = re + start + k, *i0 = im + start + k, *r1 = r0 + half, *i1 = i0 + half;
                double xr = *r1 * wr - *i1 * wi, xi = *r1 * wi + *i1 * wr;
                *r1 = *r0 - xr;
                *i1 = *i0 - xi;
                *r0 += xr;
                *i0 += xi;
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int size = 1 << atoi(argv[1]), rounds = atoi(argv[2]);
    double *re = calloc(size, sizeof *re), *im = calloc(size, sizeof *im);
    double *cosines = calloc(size, sizeof *cosines), *sines = calloc(size, sizeof *sines);
    for (int i = 0; i < size; i++) {
        cosines[i] = cos(2 * 3.14159265358979323846 * i / size);
        sines[i] = sin(2 * 3.14159265358979323846 * i / size);
    }
    unsigned state = 7;
    for (int i = 0; i < size; i++) {
        state = state * 1103515245u + 12345u;
        re[i] = (state >> 16) % 1000;
    }
    double first = re[0], last = re[size - 1];
    for (int round = 0; round < rounds; round++) {
        transform(re, im, size, cosines, sines, -1);
        transform(re, im, size, cosines, sines, 1);
        for (int i = 0; i < size; i++) {
            re[i] /= size;
            im[i] /= size;
        }
    }
    printf("%d %.4f %.4f %.4f\n", size, fabs(re[0] - first), fabs(re[size - 1] - last), fabs(im[size / 2]));
    free(re);
    free(im);
    free(cosines);
    free(sines);
    return 0;
}
