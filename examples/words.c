/* Keeps its arguments in a list, and prints the length of the longest. Crashes if one is empty. */
#include <stdio.h>
#include <string.h>

static const char *words[64];
static void add(int number, const char *word) {
    int is_empty = word[0] == 0;
    words[number] = is_empty ? NULL : word;
}

static int longest(int count) {
    int longest = 0;
    for (int i = 0; i < count; i++) {
        int length = 0;
        /* The null pointer of an empty word is read here. */
        while (words[i][length]) length++;
        if (length > longest) longest = length;
    }
    return longest;
}

int main(int count, char **arguments) {
    int number;
    for (number = 1; number < count; number++)
        add(number - 1, arguments[number]);
    printf("%d\n", longest(count - 1));
    return 0;
}
