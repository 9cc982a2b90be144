/* Counts the words of standard input with a hash table and prints the most frequent ones.
 *
 *     cotree cc -O2 -o wordfreq wordfreq.c && ./wordfreq < wordfreq.c && cotree report
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
    struct word *next;
    long count;
    char text[];
};

static struct word *table[1024];
static long distinct;

static unsigned hash(const char *text) {
    unsigned h = 5381;
    while (*text) h = h * 33 + (unsigned char)*text++;
    return h % (sizeof table / sizeof *table);
}

static void add(const char *text) {
    struct word **slot = &table[hash(text)];
    for (struct word *w = *slot; w; w = w->next) {
        if (strcmp(w->text, text) == 0) {
            w->count++;
            return;
        }
    }
    struct word *w = malloc(sizeof *w + strlen(text) + 1);
    if (!w) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    strcpy(w->text, text);
    w->count = 1;
    w->next = *slot;
    *slot = w;
    distinct++;
}

static int by_count(const void *a, const void *b) {
    const struct word *x = *(struct word *const *)a, *y = *(struct word *const *)b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->text, y->text);
}

int main(void) {
    char text[64];
    size_t length = 0;
    for (int c; (c = getchar()) != EOF;) {
        if (isalnum(c)) {
            if (length < sizeof text - 1) text[length++] = (char)tolower(c);
        } else if (length) {
            text[length] = 0;
            add(text);
            length = 0;
        }
    }
    struct word **all = malloc(distinct * sizeof *all + 1);
    long n = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (struct word *w = table[i]; w; w = w->next) all[n++] = w;
    qsort(all, n, sizeof *all, by_count);
    for (long i = 0; i < n && i < 10; i++) printf("%6ld %s\n", all[i]->count, all[i]->text);
    return 0;
}
