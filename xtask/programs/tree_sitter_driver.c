// Parses a C file with tree-sitter, walks the tree, edits the text in places and parses again from the old tree.
//
//     tree_sitter_driver FILE EDITS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_c(void);

static void walk(TSTree *tree, const char *when) {
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    unsigned long nodes = 0, deepest = 0, depth = 0, errors = 0, hash = 1469598103934665603UL;
    for (int going = 1; going;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        nodes++;
        errors += ts_node_is_error(node) || ts_node_is_missing(node);
        hash = (hash ^ ts_node_symbol(node) ^ ((unsigned long)ts_node_start_byte(node) << 16)) * 1099511628211UL;
        if (depth > deepest) deepest = depth;
        if (ts_tree_cursor_goto_first_child(&cursor)) {
            depth++;
            continue;
        }
        while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
            if (!ts_tree_cursor_goto_parent(&cursor)) {
                going = 0;
                break;
            }
            depth--;
        }
    }
    ts_tree_cursor_delete(&cursor);
    printf("%s: %lu nodes, %lu levels, %lu errors, hash %016lx\n", when, nodes, deepest, errors, hash);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    FILE *file = fopen(argv[1], "rb");
    if (!file) return 2;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(size + 1);
    if (fread(text, 1, size, file) != size) return 2;
    fclose(file);
    TSParser *parser = ts_parser_new();
    if (!ts_parser_set_language(parser, tree_sitter_c())) return 1;
    TSTree *tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)size);
    walk(tree, "at first");
    int edits = atoi(argv[2]);
    for (int i = 0; i < edits; i++) {
        uint32_t at = (uint32_t)((i + 1) * (size / (size_t)(edits + 1)));
        TSPoint point = {0, 0};
        for (uint32_t k = 0; k < at; k++) {
            point.column++;
            if (text[k] == '\n') point = (TSPoint){point.row + 1, 0};
        }
        TSPoint after = {point.row, point.column + 1};
        text[at] = "x;{(\n"[i % 5] == '\n' ? ' ' : "x;{(\n"[i % 5];
        TSInputEdit edit = {at, at + 1, at + 1, point, after, after};
        ts_tree_edit(tree, &edit);
        TSTree *next = ts_parser_parse_string(parser, tree, text, (uint32_t)size);
        uint32_t ranges;
        free(ts_tree_get_changed_ranges(tree, next, &ranges));
        printf("edit %d at %u: %u ranges changed\n", i, at, ranges);
        ts_tree_delete(tree);
        tree = next;
    }
    walk(tree, "at last");
    ts_tree_delete(tree);
    ts_parser_delete(parser);
    free(text);
    return 0;
}
