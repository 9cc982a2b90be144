// Numeric kernels: long loops that do nothing but arithmetic. `numeric` runs all of them, `numeric NAME` one; each prints
// a checksum, which no way of building it may change.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K(name) static __attribute__((noinline)) double name(void)

static double A[96][96], B[96][96], C[96][96];
static double v[8192], w[8192], r[8192];
static float fa[8192], fb[8192];
static int ia[8192], ib[8192];
static unsigned char bytes[8192];

static double checksum(const double *p, long n) {
    double s = 0;
    for (long k = 0; k < n; k++) s += p[k] * (double)(k % 7 + 1);
    return s;
}

K(matmul) {
    for (int i = 0; i < 96; i++)
        for (int j = 0; j < 96; j++) {
            double t = 0;
            for (int k = 0; k < 96; k++) t += A[i][k] * B[k][j];
            C[i][j] = t;
        }
    return checksum(&C[0][0], 96 * 96);
}

K(matmul_rows) {
    memset(C, 0, sizeof C);
    for (int i = 0; i < 96; i++)
        for (int k = 0; k < 96; k++)
            for (int j = 0; j < 96; j++) C[i][j] += A[i][k] * B[k][j];
    return checksum(&C[0][0], 96 * 96);
}

K(cholesky) {
    for (int i = 0; i < 96; i++)
        for (int j = 0; j < 96; j++) C[i][j] = i == j ? 200 : (A[i][j] + A[j][i]) / 96;
    for (int j = 0; j < 96; j++) {
        double d = C[j][j];
        for (int k = 0; k < j; k++) d -= C[j][k] * C[j][k];
        C[j][j] = d = sqrt(d);
        for (int i = j + 1; i < 96; i++) {
            double t = C[i][j];
            for (int k = 0; k < j; k++) t -= C[i][k] * C[j][k];
            C[i][j] = t / d;
        }
    }
    return checksum(&C[0][0], 96 * 96);
}

K(gauss) {
    memcpy(C, A, sizeof C);
    for (int i = 0; i < 96; i++) C[i][i] += 100;
    for (int p = 0; p < 95; p++)
        for (int i = p + 1; i < 96; i++) {
            double q = C[i][p] / C[p][p];
            for (int k = p; k < 96; k++) C[i][k] -= q * C[p][k];
        }
    return checksum(&C[0][0], 96 * 96);
}

K(fft) {
    enum { N = 4096 };
    double *re = v, *im = w;
    for (int k = 0; k < N; k++) re[k] = k % 17, im[k] = k % 5;
    for (unsigned i = 1, j = 0; i < N; i++) {
        unsigned bit = N >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) {
            double t = re[i];
            re[i] = re[j], re[j] = t;
            t = im[i], im[i] = im[j], im[j] = t;
        }
    }
    for (int len = 2; len <= N; len *= 2) {
        double cr = cos(2 * M_PI / len), ci = sin(2 * M_PI / len);
        for (int i = 0; i < N; i += len) {
            double xr = 1, xi = 0;
            for (int k = 0; k < len / 2; k++) {
                double ur = re[i + k], ui = im[i + k];
                double tr = re[i + k + len / 2] * xr - im[i + k + len / 2] * xi;
                double ti = re[i + k + len / 2] * xi + im[i + k + len / 2] * xr;
                re[i + k] = ur + tr, im[i + k] = ui + ti;
                re[i + k + len / 2] = ur - tr, im[i + k + len / 2] = ui - ti;
                double n = xr * cr - xi * ci;
                xi = xr * ci + xi * cr, xr = n;
            }
        }
    }
    return checksum(re, N) + checksum(im, N);
}

K(nbody) {
    enum { N = 5 };
    double p[N][3], q[N][3], m[N];
    for (int i = 0; i < N; i++) {
        m[i] = 1 + i / 10.0;
        for (int d = 0; d < 3; d++) p[i][d] = (i + 1) * (d + 2) % 7, q[i][d] = (i * 3 + d) % 5 / 10.0;
    }
    for (int step = 0; step < 4000; step++) {
        for (int i = 0; i < N; i++)
            for (int j = i + 1; j < N; j++) {
                double dx = p[i][0] - p[j][0], dy = p[i][1] - p[j][1], dz = p[i][2] - p[j][2];
                double d = dx * dx + dy * dy + dz * dz + 0.01, g = 0.001 / (d * sqrt(d));
                q[i][0] -= dx * m[j] * g, q[i][1] -= dy * m[j] * g, q[i][2] -= dz * m[j] * g;
                q[j][0] += dx * m[i] * g, q[j][1] += dy * m[i] * g, q[j][2] += dz * m[i] * g;
            }
        for (int i = 0; i < N; i++)
            for (int d = 0; d < 3; d++) p[i][d] += 0.001 * q[i][d];
    }
    return checksum(&p[0][0], N * 3);
}

K(stencil) {
    for (int t = 0; t < 20; t++) {
        for (int i = 1; i < 95; i++)
            for (int j = 1; j < 95; j++)
                C[i][j] = (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]) * 0.2;
        memcpy(A, C, sizeof A);
    }
    return checksum(&A[0][0], 96 * 96);
}

K(seidel) {
    for (int t = 0; t < 20; t++)
        for (int i = 1; i < 95; i++)
            for (int j = 1; j < 95; j++) B[i][j] = (B[i - 1][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1]) / 4;
    return checksum(&B[0][0], 96 * 96);
}

K(axpy) {
    for (int t = 0; t < 60; t++)
        for (int k = 0; k < 8192; k++) v[k] += w[k] * 0.001;
    return checksum(v, 8192);
}

K(dot) {
    double s = 0;
    for (int t = 0; t < 60; t++)
        for (int k = 0; k < 8192; k++) s += v[k] * w[k];
    return s;
}

K(float_sum_of_squares) {
    float s = 0;
    for (int t = 0; t < 60; t++)
        for (int k = 0; k < 8192; k++) s += fa[k] * fa[k] - fb[k];
    return s;
}

K(float_blend) {
    for (int t = 1; t < 60; t++)
        for (int k = 0; k < 8192; k++) fa[k] = fa[k] * 0.9f + fb[k] * 0.1f;
    return fa[77];
}

K(int_add) {
    for (int t = 0; t < 60; t++)
        for (int k = 0; k < 8192; k++) ia[k] = (int)((unsigned)ia[k] + (unsigned)ib[k]);
    return ia[100];
}

K(byte_sum) {
    long s = 0;
    for (int t = 0; t < 60; t++)
        for (int k = 0; k < 8192; k++) s += bytes[k];
    return (double)s;
}

K(count_zeros) {
    long s = 0;
    for (int t = 0; t < 60; t++)
        for (int k = 0; k < 8192; k++) s += ia[k] % 8 == 0;
    return (double)s;
}

K(fir) {
    static const double h[16] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1};
    for (int k = 0; k + 16 < 8192; k++) {
        double t = 0;
        for (int j = 0; j < 16; j++) t += v[k + j] * h[j];
        r[k] = t / 72;
    }
    return checksum(r, 8192 - 16);
}

K(iir) {
    double y = 0, z = 0;
    for (int t = 0; t < 20; t++)
        for (int k = 0; k < 8192; k++) {
            double n = v[k] + 1.6 * y - 0.7 * z;
            z = y, y = n, r[k] = n;
        }
    return checksum(r, 8192);
}

K(mandelbrot) {
    long s = 0;
    for (int py = 0; py < 48; py++)
        for (int px = 0; px < 64; px++) {
            double cr = px / 32.0 - 1.5, ci = py / 24.0 - 1, zr = 0, zi = 0;
            int k = 0;
            while (k < 200 && zr * zr + zi * zi < 4) {
                double n = zr * zr - zi * zi + cr;
                zi = 2 * zr * zi + ci, zr = n, k++;
            }
            s += k;
        }
    return (double)s;
}

K(spectral_norm) {
    enum { N = 96 };
    double u[N], q[N];
    for (int i = 0; i < N; i++) u[i] = 1;
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < N; i++) {
            double s = 0;
            for (int j = 0; j < N; j++) s += u[j] / ((i + j) * (i + j + 1) / 2 + i + 1);
            q[i] = s;
        }
        for (int i = 0; i < N; i++) {
            double s = 0;
            for (int j = 0; j < N; j++) s += q[j] / ((i + j) * (i + j + 1) / 2 + j + 1);
            u[i] = s;
        }
    }
    return checksum(u, N);
}

K(sieve) {
    static unsigned char not[100001];
    memset(not, 0, sizeof not);
    long c = 0;
    for (long k = 2; k <= 100000; k++)
        if (!not[k]) {
            c++;
            for (long j = k * k; j <= 100000; j += k) not[j] = 1;
        }
    return (double)c;
}

K(prefix) {
    double s = 0;
    for (int t = 0; t < 20; t++)
        for (int k = 0; k < 8192; k++) r[k] = s += v[k] * 1e-3;
    return checksum(r, 8192);
}

K(polynomials) {
    for (int k = 0; k < 8192; k++) {
        double x = w[k] / 100, y = 0;
        for (int d = 11; d >= 0; d--) y = y * x + d;
        r[k] = y;
    }
    return checksum(r, 8192);
}

K(floyd_warshall) {
    for (int i = 0; i < 96; i++)
        for (int j = 0; j < 96; j++) C[i][j] = i == j ? 0 : (i * 37 + j * 11) % 97 + 1;
    for (int k = 0; k < 96; k++)
        for (int i = 0; i < 96; i++)
            for (int j = 0; j < 96; j++)
                if (C[i][k] + C[k][j] < C[i][j]) C[i][j] = C[i][k] + C[k][j];
    return checksum(&C[0][0], 96 * 96);
}

K(monte_carlo) {
    uint64_t s = 88172645463325252u;
    long c = 0;
    for (int k = 0; k < 200000; k++) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        double x = (double)(s >> 40) / 16777216, y = (double)(s & 0xffffff) / 16777216;
        if (x * x + y * y < 1) c++;
    }
    return (double)c;
}

static const struct {
    const char *name;
    double (*run)(void);
} all[] = {
    {"matmul", matmul}, {"matmul_rows", matmul_rows}, {"cholesky", cholesky}, {"gauss", gauss}, {"fft", fft},
    {"nbody", nbody}, {"stencil", stencil}, {"seidel", seidel}, {"axpy", axpy}, {"dot", dot},
    {"float_sum_of_squares", float_sum_of_squares}, {"float_blend", float_blend}, {"int_add", int_add},
    {"byte_sum", byte_sum}, {"count_zeros", count_zeros}, {"fir", fir}, {"iir", iir}, {"mandelbrot", mandelbrot},
    {"spectral_norm", spectral_norm}, {"sieve", sieve}, {"prefix", prefix}, {"polynomials", polynomials},
    {"floyd_warshall", floyd_warshall}, {"monte_carlo", monte_carlo},
};

static void prepare(void) {
    for (int i = 0; i < 96; i++)
        for (int j = 0; j < 96; j++) A[i][j] = (i * 7 + j * 3) % 11, B[i][j] = (i + j * 5) % 13;
    for (int k = 0; k < 8192; k++) {
        v[k] = k % 23, w[k] = k % 31, r[k] = 0;
        fa[k] = (float)(k % 19), fb[k] = (float)(k % 29);
        ia[k] = k * 7 % 1000, ib[k] = k % 3;
        bytes[k] = (unsigned char)(k * 31);
    }
}

int main(int argc, char **argv) {
    int found = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (argc > 1 && strcmp(argv[1], all[k].name)) continue;
        found = 1;
        prepare();
        printf("%s %.9g\n", all[k].name, all[k].run());
    }
    return !found;
}
