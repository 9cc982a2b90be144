// Compresses a file with zlib and decompresses it again, at each level given, by each strategy, in portions.
//
//     zlib_driver FILE LEVEL…
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "zlib.h"

static unsigned char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) exit(2);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = malloc(*size + 1);
    if (fread(data, 1, *size, file) != *size) exit(2);
    fclose(file);
    return data;
}

static size_t squeeze(unsigned char *data, size_t size, int level, int strategy, unsigned char *out, size_t capacity) {
    z_stream s = {0};
    if (deflateInit2(&s, level, Z_DEFLATED, 15 + 16, 8, strategy) != Z_OK) exit(1);
    s.next_out = out;
    s.avail_out = (uInt)capacity;
    for (size_t at = 0; at < size;) {
        size_t portion = size - at < 7000 ? size - at : 7000;
        s.next_in = data + at;
        s.avail_in = (uInt)portion;
        at += portion;
        if (deflate(&s, at == size ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR) exit(1);
    }
    size_t packed = s.total_out;
    deflateEnd(&s);
    return packed;
}

static int expand(unsigned char *packed, size_t size, unsigned char *out, size_t capacity, size_t *length) {
    z_stream s = {0};
    if (inflateInit2(&s, 15 + 16) != Z_OK) exit(1);
    s.next_out = out;
    s.avail_out = (uInt)capacity;
    int status = Z_OK;
    for (size_t at = 0; at < size && status == Z_OK;) {
        size_t portion = size - at < 4096 ? size - at : 4096;
        s.next_in = packed + at;
        s.avail_in = (uInt)portion;
        at += portion;
        status = inflate(&s, Z_NO_FLUSH);
    }
    *length = s.total_out;
    inflateEnd(&s);
    return status;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
    size_t size;
    unsigned char *data = read_file(argv[1], &size);
    size_t capacity = 2 * size + 1000;
    unsigned char *out = malloc(capacity), *back = malloc(size + 1);
    for (int i = 2; i < argc; i++) {
        int level = atoi(argv[i]);
        for (int k = 0; k < (level == 6 ? 5 : 1); k++) {
            size_t length, packed = squeeze(data, size, level, strategies[k], out, capacity);
            int status = expand(out, packed, back, size, &length);
            printf("level %d, strategy %d: %zu of %zu bytes, crc %08lx, %d, %s\n", level, k, packed, size,
                   crc32(0, out, (uInt)packed), status, length == size && !memcmp(data, back, size) ? "same" : "DIFFERENT");
            out[packed / 2] ^= 1;  // damage
            printf("  damaged: %s\n", expand(out, packed, back, size, &length) == Z_STREAM_END ? "taken" : "refused");
        }
    }
    printf("adler %08lx\n", adler32(1, data, (uInt)size));
    free(data);
    free(out);
    free(back);
    return 0;
}
