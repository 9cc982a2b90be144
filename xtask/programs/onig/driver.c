// Looks for regular expressions in a file with Oniguruma: line by line, and in the text as a whole.
//
//     onig_driver FILE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oniguruma.h"

static const char *patterns[] = {
    "\\b[A-Za-z_][A-Za-z0-9_]*\\b",
    "(?:0x[0-9a-fA-F]+|\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)",
    "^\\s*#\\s*(?<name>define|include|if|ifdef|ifndef|endif|else)\\b",
    "(\\w+)\\s*\\(([^()]*)\\)",
    "(a|b|ab)*c",
    "(?i)sqlite_[a-z]+(?=\\s)",
    "(?<!\\w)(\\w)\\w*\\1(?!\\w)",
    "/\\*(?:[^*]|\\*(?!/))*\\*/",
    "(?<paren>\\((?:[^()]|\\g<paren>)*\\))",
    "(unbalanced",
};

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

static void find_all(regex_t *regex, const OnigUChar *text, const OnigUChar *end, long *matches, long *bytes) {
    OnigRegion *region = onig_region_new();
    for (const OnigUChar *at = text; at <= end;) {
        int found = onig_search(regex, text, end, at, end, region, ONIG_OPTION_NONE);
        if (found < 0) break;
        ++*matches;
        *bytes += region->end[0] - region->beg[0];
        at = text + (region->end[0] > region->beg[0] ? region->end[0] : region->end[0] + 1);
    }
    onig_region_free(region, 1);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    size_t size;
    char *data = read_file(argv[1], &size);
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const OnigUChar *pattern = (const OnigUChar *)patterns[i];
        regex_t *regex;
        OnigErrorInfo info;
        int status = onig_new(&regex, pattern, pattern + strlen(patterns[i]), ONIG_OPTION_NONE, ONIG_ENCODING_UTF8,
                              ONIG_SYNTAX_ONIGURUMA, &info);
        if (status != ONIG_NORMAL) {
            OnigUChar message[ONIG_MAX_ERROR_MESSAGE_LEN];
            onig_error_code_to_str(message, status, &info);
            printf("%s: %s\n", patterns[i], message);
            continue;
        }
        long matches = 0, bytes = 0;
        if (i < 4) {
            for (char *line = data; line < data + size;) {
                char *newline = memchr(line, '\n', (size_t)(data + size - line));
                char *end = newline ? newline : data + size;
                find_all(regex, (OnigUChar *)line, (OnigUChar *)end, &matches, &bytes);
                line = end + 1;
            }
        } else {
            find_all(regex, (OnigUChar *)data, (OnigUChar *)data + size, &matches, &bytes);
        }
        printf("%s: %ld matches, %ld bytes\n", patterns[i], matches, bytes);
        onig_free(regex);
    }
    onig_end();
    free(data);
    return 0;
}
