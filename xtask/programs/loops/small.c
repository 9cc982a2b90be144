// A hundred and more small functions made of loops: over arrays, strings, lists, bits and numbers, as libraries have
// them. `small` runs all of them, `small NAME` one; each prints a checksum, which no way of building it may change.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 256

typedef struct node {
    struct node *next, *left, *right;
    long key;
} node;

// What every function is given: `n` of everything.
typedef struct {
    long n;
    int *a, *b, *out;
    long *l;
    unsigned *u;
    unsigned char *bytes, *room;
    char *s, *t;
    double *x, *y, *z;
    float *f;
    node *list, *tree;
} input;

#define F(name) static __attribute__((noinline)) long name(input *i)

// --- sums, counts and searches in arrays
F(sum) { long s = 0; for (long k = 0; k < i->n; k++) s += i->a[k]; return s; }
F(sum_int_index) { int s = 0; for (int k = 0; k < (int)i->n; k++) s += i->a[k]; return s; }
F(sum_unsigned_index) { unsigned s = 0; for (unsigned k = 0; k < (unsigned)i->n; k++) s += i->u[k]; return s; }
F(sum_pointer) { long s = 0; for (int *p = i->a, *e = p + i->n; p != e; p++) s += *p; return s; }
F(sum_backwards) { unsigned long s = 0; for (long k = i->n; k-- > 0;) s = s * 3 + i->u[k]; return (long)s; }
F(sum_every_third) { long s = 0; for (long k = 0; k < i->n; k += 3) s += i->a[k]; return s; }
F(sum_pairs) { long s = 0; for (long k = 0; k + 1 < i->n; k += 2) s += i->a[k] * i->a[k + 1]; return s; }
F(sum_doubles) { double s = 0; for (long k = 0; k < i->n; k++) s += i->x[k]; return (long)s; }
F(sum_floats) { float s = 0; for (long k = 0; k < i->n; k++) s += i->f[k]; return (long)s; }
F(sum_bytes) { long s = 0; for (long k = 0; k < i->n; k++) s += i->bytes[k]; return s; }
F(sum_positive) { long s = 0; for (long k = 0; k < i->n; k++) if (i->a[k] > 0) s += i->a[k]; return s; }
F(sum_by_sign) { long p = 0, m = 0; for (long k = 0; k < i->n; k++) { if (i->a[k] > 0) p += i->a[k]; else m -= i->a[k]; } return p * 7 + m; }
F(product) { unsigned long s = 1; for (long k = 0; k < i->n; k++) s *= i->u[k] | 1; return (long)s; }
F(dot) { double s = 0; for (long k = 0; k < i->n; k++) s += i->x[k] * i->y[k]; return (long)s; }
F(dot_int) { long s = 0; for (long k = 0; k < i->n; k++) s += (long)i->a[k] * i->b[k]; return s; }
F(count_zeros) { int c = 0; for (long k = 0; k < i->n; k++) if (!i->a[k]) c++; return c; }
F(count_even) { long c = 0; for (long k = 0; k < i->n; k++) if (i->u[k] % 2 == 0) c++; return c; }
F(count_and_note) { long c = 0; for (long k = 0; k < i->n; k++) if (!(i->u[k] & 3)) i->out[c++] = (int)k; return c; }
F(count_runs) { long c = 0; for (long k = 1; k < i->n; k++) if (i->a[k] != i->a[k - 1]) c++; return c; }
F(count_inversions) { long c = 0; long n = i->n < 40 ? i->n : 40; for (long j = 0; j < n; j++) for (long k = j + 1; k < n; k++) if (i->a[j] > i->a[k]) c++; return c; }
F(largest) { int m = -1; for (long k = 0; k < i->n; k++) if (i->a[k] > m) m = i->a[k]; return m; }
F(where_largest) { long m = 0; for (long k = 1; k < i->n; k++) if (i->a[k] > i->a[m]) m = k; return m; }
F(smallest_and_largest) { int m = 1 << 30, w = -m; for (long k = 0; k < i->n; k++) { if (i->a[k] < m) m = i->a[k]; if (i->a[k] > w) w = i->a[k]; } return m * 5L + w; }
F(second_largest) { int m = -1, w = -1; for (long k = 0; k < i->n; k++) { if (i->a[k] > m) { w = m; m = i->a[k]; } else if (i->a[k] > w) w = i->a[k]; } return w; }
F(find_linear) { for (long k = 0; k < i->n; k++) if (i->a[k] == 77) return k; return -1; }
F(find_last) { for (long k = i->n - 1; k >= 0; k--) if (i->a[k] == 33) return k; return -1; }
F(find_sentinel) { int *p = i->a; int kept = p[i->n]; p[i->n] = 55; while (*p != 55) p++; i->a[i->n] = kept; return p - i->a; }
F(find_pair) { for (long k = 1; k < i->n; k++) if (i->a[k] + i->a[k - 1] == 100) return k; return -1; }
F(find_binary) { long lo = 0, hi = i->n; while (lo < hi) { long m = (lo + hi) / 2; if (i->l[m] < 300) lo = m + 1; else hi = m; } return lo; }
F(is_sorted) { for (long k = 1; k < i->n; k++) if (i->l[k] < i->l[k - 1]) return 0; return 1; }
F(all_below) { for (long k = 0; k < i->n; k++) if (i->a[k] >= 1000) return 0; return 1; }
F(equal_arrays) { for (long k = 0; k < i->n; k++) if (i->a[k] != i->b[k]) return k; return -1; }
F(mismatches) { long c = 0; for (long k = 0; k < i->n; k++) c += i->a[k] != i->b[k]; return c; }
F(histogram) { memset(i->out, 0, 16 * sizeof *i->out); for (long k = 0; k < i->n; k++) i->out[i->bytes[k] & 15]++; return i->out[3]; }
F(majority) { int c = 0, m = 0; for (long k = 0; k < i->n; k++) { int v = i->a[k] & 1; if (!c) { m = v; c = 1; } else if (m == v) c++; else c--; } return m * 1000 + c; }
F(best_interval) { long best = 0, now = 0; for (long k = 0; k < i->n; k++) { now += i->a[k] - 50; if (now < 0) now = 0; if (now > best) best = now; } return best; }
F(prefix_balance) { long d = 0, low = 0; for (long k = 0; k < i->n; k++) { d += i->bytes[k] & 1 ? 1 : -1; if (d < low) low = d; } return low; }

// --- filling, copying and rearranging
F(fill) { for (long k = 0; k < i->n; k++) i->out[k] = 9; return i->out[0]; }
F(fill_rising) { for (long k = 0; k < i->n; k++) i->out[k] = (int)k; return i->out[i->n / 2]; }
F(copy_ints) { for (long k = 0; k < i->n; k++) i->out[k] = i->a[k]; return i->out[0]; }
F(copy_bytes_plainly) { unsigned char *d = i->room, *s = i->bytes; long n = i->n; while (n--) *d++ = *s++; return d[-1]; }
F(copy_backwards) { for (long k = i->n; k > 0; k--) i->room[k] = i->bytes[k - 1]; return i->room[1]; }
F(copy_some) { long w = 0; for (long k = 0; k < i->n; k++) if (i->a[k] > 40) i->out[w++] = i->a[k]; return w; }
F(unique) { long w = 0; for (long k = 0; k < i->n; k++) if (!k || i->a[k] != i->a[k - 1]) i->out[w++] = i->a[k]; return w; }
F(scale) { for (long k = 0; k < i->n; k++) i->z[k] = i->x[k] * 1.5; return (long)i->z[0]; }
F(axpy) { for (long k = 0; k < i->n; k++) i->z[k] = i->x[k] * 3 + i->y[k]; return (long)i->z[0]; }
F(add_arrays) { for (long k = 0; k < i->n; k++) i->out[k] = i->a[k] + i->b[k]; return i->out[0]; }
F(absolute) { for (long k = 0; k < i->n; k++) i->out[k] = i->a[k] < 50 ? 50 - i->a[k] : i->a[k] - 50; return i->out[0]; }
F(clamp) { for (long k = 0; k < i->n; k++) { int v = i->a[k]; if (v < 20) v = 20; if (v > 80) v = 80; i->out[k] = v; } return i->out[0]; }
F(prefix_sums) { int s = 0; for (long k = 0; k < i->n; k++) i->out[k] = s += i->a[k]; return s; }
F(differences) { for (long k = 1; k < i->n; k++) i->out[k] = i->a[k] - i->a[k - 1]; return i->out[1]; }
F(moving_average) { for (long k = 2; k + 2 < i->n; k++) i->out[k] = (i->a[k - 2] + i->a[k - 1] + i->a[k] + i->a[k + 1] + i->a[k + 2]) / 5; return i->out[2]; }
F(reverse) { for (long k = 0; k < i->n; k++) i->out[k] = i->a[k]; for (long j = 0, k = i->n - 1; j < k; j++, k--) { int v = i->out[j]; i->out[j] = i->out[k]; i->out[k] = v; } return i->out[0]; }
F(rotate) { for (long k = 0; k < i->n; k++) i->out[(k + 3) % i->n] = i->a[k]; return i->out[0]; }
F(interleave) { for (long k = 0; 2 * k + 1 < i->n; k++) { i->out[2 * k] = i->a[k]; i->out[2 * k + 1] = i->b[k]; } return i->out[1]; }
F(gather) { for (long k = 0; k < i->n; k++) i->out[k] = i->a[i->u[k] % (unsigned long)i->n]; return i->out[0]; }
F(partition) { long w = 0; for (long k = 0; k < i->n; k++) i->out[k] = i->a[k]; for (long k = 0; k < i->n; k++) if (i->out[k] < 50) { int v = i->out[k]; i->out[k] = i->out[w]; i->out[w++] = v; } return w; }
F(merge) { long j = 0, k = 0, w = 0, h = i->n / 2; while (j < h && k < h) { if (i->l[j] <= i->l[h + k] / 2) i->out[w++] = (int)i->l[j++]; else i->out[w++] = (int)i->l[h + k++]; } while (j < h) i->out[w++] = (int)i->l[j++]; while (k < h) i->out[w++] = (int)i->l[h + k++]; return w; }
F(insertion_sort) { long n = i->n < 30 ? i->n : 30; memcpy(i->out, i->a, n * sizeof *i->a); for (long k = 1; k < n; k++) { int v = i->out[k]; long j = k; while (j > 0 && i->out[j - 1] > v) { i->out[j] = i->out[j - 1]; j--; } i->out[j] = v; } return n ? i->out[n / 2] : 0; }
F(bubble_sort) { long n = i->n < 20 ? i->n : 20; memcpy(i->out, i->a, n * sizeof *i->a); int again = 1; while (again) { again = 0; for (long k = 1; k < n; k++) if (i->out[k - 1] > i->out[k]) { int v = i->out[k]; i->out[k] = i->out[k - 1]; i->out[k - 1] = v; again = 1; } } return n ? i->out[0] : 0; }
F(selection_sort) { long n = i->n < 24 ? i->n : 24; memcpy(i->out, i->a, n * sizeof *i->a); for (long j = 0; j < n; j++) { long m = j; for (long k = j + 1; k < n; k++) if (i->out[k] < i->out[m]) m = k; int v = i->out[j]; i->out[j] = i->out[m]; i->out[m] = v; } return n ? i->out[n - 1] : 0; }
F(shell_sort) { memcpy(i->out, i->a, i->n * sizeof *i->a); for (long gap = i->n / 2; gap > 0; gap /= 2) for (long k = gap; k < i->n; k++) { int v = i->out[k]; long j = k; for (; j >= gap && i->out[j - gap] > v; j -= gap) i->out[j] = i->out[j - gap]; i->out[j] = v; } return i->n ? i->out[i->n / 3] : 0; }
F(sift_down) { memcpy(i->out, i->a, i->n * sizeof *i->a); for (long r = i->n / 2; r-- > 0;) { long k = r; int v = i->out[k]; for (;;) { long c = 2 * k + 1; if (c >= i->n) break; if (c + 1 < i->n && i->out[c + 1] > i->out[c]) c++; if (i->out[c] <= v) break; i->out[k] = i->out[c]; k = c; } i->out[k] = v; } return i->n ? i->out[0] : 0; }
F(move_to_front) { long s = 0; unsigned char q[16]; for (int k = 0; k < 16; k++) q[k] = (unsigned char)k; for (long k = 0; k < i->n; k++) { unsigned char v = i->bytes[k] & 15; int j = 0; while (q[j] != v) j++; s += j; while (j > 0) { q[j] = q[j - 1]; j--; } q[0] = v; } return s; }

// --- strings
F(length) { char *p = i->s; while (*p) p++; return p - i->s; }
F(compare) { char *p = i->s, *q = i->t; while (*p && *p == *q) p++, q++; return *p - *q + (p - i->s); }
F(copy_string) { char *p = i->s, *q = (char *)i->room; while ((*q++ = *p++)) {} return q - (char *)i->room; }
F(append) { char *q = (char *)i->room; *q = 0; for (int k = 0; k < 3; k++) { while (*q) q++; for (long j = 0; j < 20 && i->s[j]; j++) *q++ = i->s[j]; *q = 0; } return q - (char *)i->room; }
F(find_char) { for (char *p = i->s; *p; p++) if (*p == 'q') return p - i->s; return -1; }
F(find_last_char) { long at = -1; for (long k = 0; i->s[k]; k++) if (i->s[k] == 'e') at = k; return at; }
F(count_char) { long c = 0; for (char *p = i->s; *p; p++) c += *p == 'e'; return c; }
F(count_words) { long c = 0; int in = 0; for (char *p = i->s; *p; p++) { if (*p == ' ') in = 0; else if (!in) in = 1, c++; } return c; }
F(longest_word) { long best = 0, now = 0; for (char *p = i->s; *p; p++) { if (*p == ' ') now = 0; else if (++now > best) best = now; } return best; }
F(skip_spaces) { long c = 0; char *p = i->s; while (*p) { while (*p == ' ') p++; if (*p) c++; while (*p && *p != ' ') p++; } return c; }
F(to_upper) { long k = 0; for (; i->s[k]; k++) { char c = i->s[k]; i->room[k] = (unsigned char)(c >= 'a' && c <= 'z' ? c - 32 : c); } i->room[k] = 0; return k; }
F(is_palindrome) { long j = 0, k = (long)strlen(i->s) - 1; while (j < k) if (i->s[j++] != i->s[k--]) return j; return -1; }
F(reverse_string) { long n = (long)strlen(i->s); for (long k = 0; k < n; k++) i->room[k] = (unsigned char)i->s[n - 1 - k]; return n ? i->room[0] : 0; }
F(contains) { for (char *p = i->s; *p; p++) { char *a = p, *b = "the"; while (*b && *a == *b) a++, b++; if (!*b) return p - i->s; } return -1; }
F(common_prefix) { long k = 0; while (i->s[k] && i->s[k] == i->t[k]) k++; return k; }
F(span) { char *p = i->s; while (*p >= 'a' && *p <= 'z') p++; return p - i->s; }
F(trim) { long n = (long)strlen(i->s); while (n > 0 && i->s[n - 1] == ' ') n--; return n; }
F(parse_number) { char b[24]; snprintf(b, sizeof b, "%ld", i->n * 7919); long v = 0; for (char *p = b; *p >= '0' && *p <= '9'; p++) v = v * 10 + *p - '0'; return v; }
F(print_number) { char b[24]; int k = 0; unsigned long v = (unsigned long)i->n * 123457; do b[k++] = (char)('0' + v % 10); while (v /= 10); return b[k - 1]; }
F(print_hex) { char b[24]; int k = 0; unsigned long v = (unsigned long)i->n * 0x9e3779b97f4a7c15; while (v) { b[k++] = "0123456789abcdef"[v & 15]; v >>= 4; } return k ? b[k - 1] : 0; }
F(hash_string) { unsigned long h = 5381; for (char *p = i->s; *p; p++) h = h * 33 ^ (unsigned char)*p; return (long)h; }
F(fnv) { uint64_t h = 14695981039346656037u; for (long k = 0; k < i->n; k++) { h ^= i->bytes[k]; h *= 1099511628211u; } return (long)h; }
F(run_lengths) { long w = 0; for (long k = 0; k < i->n;) { long j = k; while (j < i->n && (i->bytes[j] & 4) == (i->bytes[k] & 4)) j++; i->out[w++] = (int)(j - k); k = j; } return w; }
F(utf8_length) { long c = 0; for (char *p = i->s; *p; p++) if ((*p & 0xc0) != 0x80) c++; return c; }
F(glob) { const char *p = "*e*a*", *s = i->s, *star = 0, *back = s; while (*s) { if (*p == '*') { star = p++; back = s; } else if (*p == *s) { p++; s++; } else if (star) { p = star + 1; s = ++back; } else return 0; } while (*p == '*') p++; return !*p; }
F(tokens) { long c = 0, v = 0; for (char *p = i->s; *p; p++) switch (*p) { case ' ': c++; break; case 'a': case 'e': case 'i': case 'o': case 'u': v++; break; case '.': return c * 100 + v; default: v += 3; } return c * 100 + v; }
F(base64) { static const char d[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"; long w = 0; for (long k = 0; k + 2 < i->n; k += 3) { unsigned v = i->bytes[k] << 16 | i->bytes[k + 1] << 8 | i->bytes[k + 2]; for (int j = 18; j >= 0; j -= 6) i->room[w++] = (unsigned char)d[v >> j & 63]; } return w; }

// --- bits and numbers
F(bits_kernighan) { unsigned long v = (unsigned long)i->n * 0x9e3779b97f4a7c15; long c = 0; while (v) { v &= v - 1; c++; } return c; }
F(bits_one_by_one) { unsigned long v = (unsigned long)i->n * 0x51ed2701; long c = 0; for (; v; v >>= 1) c += v & 1; return c; }
F(bits_of_array) { long c = 0; for (long k = 0; k < i->n; k++) for (unsigned v = i->u[k]; v; v >>= 1) c += v & 1; return c; }
F(parity) { unsigned p = 0; for (long k = 0; k < i->n; k++) p ^= i->u[k]; long c = 0; for (int b = 0; b < 32; b++) c ^= p >> b & 1; return c; }
F(reverse_bits) { unsigned v = (unsigned)i->n * 2654435761u, r = 0; for (int k = 0; k < 32; k++) { r = r << 1 | (v & 1); v >>= 1; } return r; }
F(log2_loop) { long c = 0; for (unsigned long v = (unsigned long)i->n; v > 1; v /= 2) c++; return c; }
F(power) { unsigned long r = 1, b = 3; for (unsigned long e = (unsigned long)i->n; e; e >>= 1) { if (e & 1) r *= b; b *= b; } return (long)r; }
F(greatest_divisor) { unsigned long a = (unsigned long)i->n * 360 + 12, b = 1260; while (b) { unsigned long r = a % b; a = b; b = r; } return (long)a; }
F(square_root) { long v = i->n * 1000, r = 0; while ((r + 1) * (r + 1) <= v) r++; return r; }
F(newton) { double v = (double)i->n + 1, r = v; for (int k = 0; k < 20; k++) r = (r + v / r) / 2; return (long)(r * 100); }
F(fibonacci) { unsigned long a = 0, b = 1; for (long k = 0; k < i->n; k++) { unsigned long c = a + b; a = b; b = c; } return (long)a; }
F(collatz) { long v = i->n + 1, c = 0; while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; c++; } return c; }
F(is_prime) { long v = i->n * 6 + 1; for (long d = 2; d * d <= v; d++) if (v % d == 0) return 0; return 1; }
F(sieve) { long c = 0; memset(i->room, 1, (size_t)i->n + 1); for (long k = 2; k <= i->n; k++) if (i->room[k]) { c++; for (long j = k * k; j <= i->n; j += k) i->room[j] = 0; } return c; }
F(digits_sum) { long s = 0; for (unsigned long v = (unsigned long)i->n * 987654321; v; v /= 10) s += (long)(v % 10); return s; }
F(horner) { double r = 0; for (long k = i->n; k-- > 0;) r = r * 0.5 + i->x[k]; return (long)r; }
F(random_walk) { unsigned s = 1; long at = 0; for (long k = 0; k < i->n; k++) { s = s * 1103515245 + 12345; at += s >> 31 ? 1 : -1; } return at; }
F(crc_bitwise) { unsigned c = ~0u; for (long k = 0; k < i->n; k++) { c ^= i->bytes[k]; for (int b = 0; b < 8; b++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1; } return ~c; }
F(adler) { unsigned a = 1, b = 0; for (long k = 0; k < i->n; k++) { a = (a + i->bytes[k]) % 65521; b = (b + a) % 65521; } return (long)(b << 16 | a); }
F(xor_key) { for (long k = 0; k < i->n; k++) i->room[k] = i->bytes[k] ^ "secret"[k % 6]; return i->room[0]; }
F(varint) { unsigned long w = 0; for (long k = 0; k < i->n; k++) { unsigned v = i->u[k]; while (v >= 128) { i->room[w++ & 255] = (unsigned char)(v | 128); v >>= 7; } i->room[w++ & 255] = (unsigned char)v; } return (long)w; }
F(binomial) { unsigned long r = 1; long n = i->n % 30, m = n / 2; for (long k = 1; k <= m; k++) r = r * (unsigned long)(n - m + k) / (unsigned long)k; return (long)r; }
F(pascal) { long n = i->n < 30 ? i->n : 30; i->l[MOST] = 0; long row[32] = {1}; for (long k = 1; k < n; k++) for (long j = k; j > 0; j--) row[j] += row[j - 1]; return row[n / 2]; }
F(integrate) { double s = 0; for (long k = 0; k < i->n; k++) { double x = (double)k / 100; s += x * x / (1 + x); } return (long)(s * 100); }

// --- two dimensions, lists and trees
F(transpose) { for (int r = 0; r < 12; r++) for (int c = 0; c < 12; c++) i->out[c * 12 + r] = i->a[r * 12 + c]; return i->out[1]; }
F(row_sums) { long s = 0; for (int r = 0; r < 12; r++) { int t = 0; for (int c = 0; c < 12; c++) t += i->a[r * 12 + c]; if (t > s) s = t; } return s; }
F(trace) { long s = 0; for (int r = 0; r < 16; r++) s += i->a[r * 16 + r]; return s; }
F(triangle) { long s = 0; for (int r = 0; r < 14; r++) for (int c = 0; c <= r; c++) s += i->a[r * 14 + c]; return s; }
F(small_product) { for (int r = 0; r < 6; r++) for (int c = 0; c < 6; c++) { double t = 0; for (int k = 0; k < 6; k++) t += i->x[r * 6 + k] * i->y[k * 6 + c]; i->z[r * 6 + c] = t; } return (long)i->z[7]; }
F(life) { long c = 0; for (int r = 1; r < 15; r++) for (int q = 1; q < 15; q++) { int m = 0; for (int d = -1; d <= 1; d++) for (int e = -1; e <= 1; e++) m += i->bytes[(r + d) * 16 + q + e] & 1; c += m == 3; } return c; }
F(flood_row) { long c = 0; for (int r = 0; r < 16; r++) { int q = 0; while (q < 16 && i->bytes[r * 16 + q] & 3) q++; c += q; } return c; }
F(edit_distance) { int d[17]; for (int k = 0; k <= 16; k++) d[k] = k; for (int j = 1; j <= 16; j++) { int last = d[0]; d[0] = j; for (int k = 1; k <= 16; k++) { int up = d[k], best = last + (i->bytes[j] != i->bytes[k + 20]); if (up + 1 < best) best = up + 1; if (d[k - 1] + 1 < best) best = d[k - 1] + 1; last = up; d[k] = best; } } return d[16]; }
F(knapsack) { int d[64] = {0}; long n = i->n < 20 ? i->n : 20; for (long k = 0; k < n; k++) { int w = i->a[k] % 30 + 1; for (int c = 63; c >= w; c--) if (d[c - w] + i->b[k] > d[c]) d[c] = d[c - w] + i->b[k]; } return d[63]; }
F(list_length) { long c = 0; for (node *p = i->list; p && c < i->n; p = p->next) c++; return c; }
F(list_sum) { long s = 0, c = 0; for (node *p = i->list; p && c < i->n; p = p->next, c++) s += p->key; return s; }
F(list_find) { for (node *p = i->list; p; p = p->next) if (p->key == i->n) return p->key; return -1; }
F(list_reverse) { node *r = 0, *p = i->list; while (p) { node *q = p->next; p->next = r; r = p; p = q; } i->list = r; return r->key; }
F(tree_find) { node *p = i->tree; long c = 0; while (p && p->key != i->n) { p = i->n < p->key ? p->left : p->right; c++; } return c; }
F(tree_leftmost) { node *p = i->tree; while (p->left) p = p->left; return p->key; }
F(hash_probe) { long c = 0; memset(i->out, 0, MOST * sizeof *i->out); for (long k = 0; k < i->n && k < 180; k++) { unsigned h = i->u[k] * 2654435761u >> 24; while (i->out[h]) { h = (h + 1) & 255; c++; } i->out[h] = 1; } return c; }
F(ring) { long s = 0, h = 0; for (long k = 0; k < i->n; k++) { i->out[h] = i->a[k]; if (++h == 20) h = 0; s += i->out[h]; } return s; }
F(spin_table) { unsigned st = 0; for (long k = 0; k < i->n; k++) { switch (st) { case 0: st = i->bytes[k] & 1 ? 1 : 2; break; case 1: st = i->bytes[k] & 2 ? 2 : 0; break; case 2: st = i->bytes[k] & 4 ? 3 : 1; break; default: st = 0; } } return st; }

typedef struct {
    const char *name;
    long (*run)(input *);
} entry;
#define E(name) {#name, name}
static const entry all[] = {
    E(sum), E(sum_int_index), E(sum_unsigned_index), E(sum_pointer), E(sum_backwards), E(sum_every_third), E(sum_pairs),
    E(sum_doubles), E(sum_floats), E(sum_bytes), E(sum_positive), E(sum_by_sign), E(product), E(dot), E(dot_int),
    E(count_zeros), E(count_even), E(count_and_note), E(count_runs), E(count_inversions), E(largest), E(where_largest),
    E(smallest_and_largest), E(second_largest), E(find_linear), E(find_last), E(find_sentinel), E(find_pair),
    E(find_binary), E(is_sorted), E(all_below), E(equal_arrays), E(mismatches), E(histogram), E(majority),
    E(best_interval), E(prefix_balance), E(fill), E(fill_rising), E(copy_ints), E(copy_bytes_plainly),
    E(copy_backwards), E(copy_some), E(unique), E(scale), E(axpy), E(add_arrays), E(absolute), E(clamp),
    E(prefix_sums), E(differences), E(moving_average), E(reverse), E(rotate), E(interleave), E(gather), E(partition),
    E(merge), E(insertion_sort), E(bubble_sort), E(selection_sort), E(shell_sort), E(sift_down), E(move_to_front),
    E(length), E(compare), E(copy_string), E(append), E(find_char), E(find_last_char), E(count_char), E(count_words),
    E(longest_word), E(skip_spaces), E(to_upper), E(is_palindrome), E(reverse_string), E(contains), E(common_prefix),
    E(span), E(trim), E(parse_number), E(print_number), E(print_hex), E(hash_string), E(fnv), E(run_lengths),
    E(utf8_length), E(glob), E(tokens), E(base64), E(bits_kernighan), E(bits_one_by_one), E(bits_of_array), E(parity),
    E(reverse_bits), E(log2_loop), E(power), E(greatest_divisor), E(square_root), E(newton), E(fibonacci), E(collatz),
    E(is_prime), E(sieve), E(digits_sum), E(horner), E(random_walk), E(crc_bitwise), E(adler), E(xor_key), E(varint),
    E(binomial), E(pascal), E(integrate), E(transpose), E(row_sums), E(trace), E(triangle), E(small_product), E(life),
    E(flood_row), E(edit_distance), E(knapsack), E(list_length), E(list_sum), E(list_find), E(list_reverse),
    E(tree_find), E(tree_leftmost), E(hash_probe), E(ring), E(spin_table),
};

static int a[MOST + 64], b[MOST + 64], out[MOST + 64];
static long l[MOST + 64];
static unsigned u[MOST + 64];
static unsigned char bytes[MOST + 64], room[MOST + 64];
static double x[MOST + 64], y[MOST + 64], z[MOST + 64];
static float f[MOST + 64];
static node nodes[MOST];
static const char text[] =
    "it was the best of times it was the worst of times it was the age of wisdom it was the age of foolishness it was "
    "the epoch of belief it was the epoch of incredulity it was the season of light it was the season of darkness";

static void prepare(void) {
    unsigned seed = 12345;
    for (int k = 0; k < MOST + 64; k++) {
        seed = seed * 1664525 + 1013904223;
        u[k] = seed >> 4;
        a[k] = (int)(seed >> 8) % 100;
        b[k] = k % 9 == 8 ? k : a[k];
        l[k] = 5L * k;
        bytes[k] = (unsigned char)(seed >> 16);
        x[k] = a[k] / 7.0;
        y[k] = k / 3.0;
        f[k] = (float)x[k];
    }
    for (int k = 0; k < MOST; k++) {
        nodes[k].key = k * 37 % MOST;
        nodes[k].next = k + 1 < MOST / 4 ? &nodes[k + 1] : 0;
        node **p = &nodes[0].left;
        if (k) {
            node *q = &nodes[0];
            do {
                p = nodes[k].key < q->key ? &q->left : &q->right;
                q = *p;
            } while (q);
            *p = &nodes[k];
        }
    }
}

int main(int argc, char **argv) {
    static const long sizes[] = {1, 2, 3, 5, 8, 13, 20, 40, 100, 200};
    static char s[MOST + 64], t[MOST + 64];
    prepare();
    int found = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (argc > 1 && strcmp(argv[1], all[k].name)) continue;
        found = 1;
        unsigned long sum = 0;
        for (int round = 0; round < 20; round++)
            for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
                long n = sizes[j];
                if (!round) {
                    memset(s, 0, sizeof s);
                    memset(t, 0, sizeof t);
                }
                memcpy(s, text, (size_t)n);
                s[n] = 0;
                memcpy(t, text, (size_t)n);
                t[n] = 0;
                t[n * 3 / 4] = '-';
                input in = {n, a, b, out, l, u, bytes, room, s, t, x, y, z, f, &nodes[0], &nodes[0]};
                sum = sum * 31 + (unsigned long)all[k].run(&in);
                if (in.list != &nodes[0]) all[k].run(&in);
            }
        printf("%s %016lx\n", all[k].name, sum);
    }
    return !found;
}
