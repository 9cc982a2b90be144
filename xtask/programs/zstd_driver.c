// Compresses a file with zstd and decompresses it again, at each level given: in one go, as a stream, and with a dictionary.
//
//     zstd_driver THREADS FILE LEVEL…
//
// THREADS above 0 compresses in that many threads of zstd's own.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ZSTD_STATIC_LINKING_ONLY
#include "zstd.h"
#include "zdict.h"

static void check(const char *what, size_t code) {
    if (!ZSTD_isError(code)) return;
    printf("%s: %s\n", what, ZSTD_getErrorName(code));
    exit(1);
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) exit(2);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size + 1);
    if (fread(data, 1, *size, file) != *size) exit(2);
    fclose(file);
    return data;
}

static unsigned sum(const char *data, size_t size) {
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)data[i]) * 16777619u;
    return hash;
}

static void stream(ZSTD_CCtx *context, const char *data, size_t size, char *out, size_t capacity, char *back) {
    ZSTD_inBuffer input = {data, size, 0};
    ZSTD_outBuffer output = {out, capacity, 0};
    while (ZSTD_compressStream2(context, &output, &input, ZSTD_e_end) != 0) {}
    ZSTD_DStream *reader = ZSTD_createDStream();
    ZSTD_inBuffer compressed = {out, 0, 0};
    ZSTD_outBuffer plain = {back, size, 0};
    size_t left = 1;
    while (left != 0) {  // in portions, as from a network
        compressed.size = compressed.size + 4096 < output.pos ? compressed.size + 4096 : output.pos;
        check("stream", left = ZSTD_decompressStream(reader, &plain, &compressed));
    }
    ZSTD_freeDStream(reader);
    printf("  stream: %zu bytes, %s\n", output.pos, plain.pos == size && !memcmp(data, back, size) ? "same" : "DIFFERENT");
}

static void dictionary(const char *data, size_t size, int level, char *out, size_t capacity, char *back) {
    enum { SAMPLE = 2048, MOST = 64 };
    size_t sizes[MOST];
    unsigned samples = 0;
    for (; samples < MOST && (samples + 1) * (size_t)SAMPLE <= size; samples++) sizes[samples] = SAMPLE;
    char dictionary[8192];
    size_t length = ZDICT_trainFromBuffer(dictionary, sizeof dictionary, data, sizes, samples);
    if (ZDICT_isError(length)) {
        printf("  dictionary: %s\n", ZDICT_getErrorName(length));
        return;
    }
    ZSTD_CCtx *writer = ZSTD_createCCtx();
    ZSTD_DCtx *reader = ZSTD_createDCtx();
    size_t part = size < 5000 ? size : 5000;
    size_t packed = ZSTD_compress_usingDict(writer, out, capacity, data, part, dictionary, length, level);
    check("dictionary", packed);
    size_t unpacked = ZSTD_decompress_usingDict(reader, back, size, out, packed, dictionary, length);
    check("dictionary", unpacked);
    printf("  dictionary of %zu: %zu bytes, %s\n", length, packed, !memcmp(data, back, part) ? "same" : "DIFFERENT");
    ZSTD_freeCCtx(writer);
    ZSTD_freeDCtx(reader);
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int threads = atoi(argv[1]);
    size_t size;
    char *data = read_file(argv[2], &size);
    size_t capacity = ZSTD_compressBound(size);
    char *out = malloc(capacity), *back = malloc(size + 1);
    for (int i = 3; i < argc; i++) {
        int level = atoi(argv[i]);
        ZSTD_CCtx *context = ZSTD_createCCtx();
        check("level", ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level));
        check("checksum", ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1));
        if (threads > 0) {
            check("threads", ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, threads));
            check("jobs", ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, 512 * 1024));
        }
        size_t packed = ZSTD_compress2(context, out, capacity, data, size);
        check("compress", packed);
        size_t unpacked = ZSTD_decompress(back, size, out, packed);
        check("decompress", unpacked);
        printf("level %d: %zu of %zu bytes, sum %08x, %s\n", level, packed, size, sum(out, packed),
               unpacked == size && !memcmp(data, back, size) ? "same" : "DIFFERENT");
        stream(context, data, size, out, capacity, back);
        if (threads == 0) dictionary(data, size, level, out, capacity, back);
        out[packed / 2] ^= 1;  // damage
        size_t damaged = ZSTD_decompress(back, size, out, packed);
        printf("  damaged: %s\n", ZSTD_isError(damaged) ? "refused" : "taken");
        ZSTD_freeCCtx(context);
    }
    free(data);
    free(out);
    free(back);
    return 0;
}
