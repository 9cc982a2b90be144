// Pointers: lists that are sorted and turned around, search trees that are balanced and emptied, a hash table of chains, and
// sets that are united.
//
//     chase COUNT
#include <stdio.h>
#include <stdlib.h>

struct item {
    struct item *next;
    unsigned key;
};
struct node {
    struct node *left, *right;
    unsigned key, rank;
};

static unsigned state = 17;
static unsigned chance(void) {
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

static struct item *merge(struct item *a, struct item *b) {
    struct item head, *tail = &head;
    while (a && b) {
        struct item **least = a->key <= b->key ? &a : &b;
        tail = tail->next = *least;
        *least = (*least)->next;
    }
    tail->next = a ? a : b;
    return head.next;
}

static struct item *sort(struct item *list) {
    if (!list || !list->next) return list;
    struct item *slow = list, *fast = list->next;
    while (fast && fast->next) slow = slow->next, fast = fast->next->next;
    struct item *rest = slow->next;
    slow->next = NULL;
    return merge(sort(list), sort(rest));
}

static struct node *join(struct node *a, struct node *b) {
    if (!a || !b) return a ? a : b;
    if (a->rank > b->rank) {
        a->right = join(a->right, b);
        return a;
    }
    b->left = join(a, b->left);
    return b;
}

static struct node *insert(struct node *tree, struct node *fresh) {
    struct node **at = &tree;
    while (*at && (*at)->rank >= fresh->rank) at = fresh->key < (*at)->key ? &(*at)->left : &(*at)->right;
    struct node *rest = *at, **low = &fresh->left, **high = &fresh->right;
    *at = fresh;
    while (rest) {
        if (rest->key < fresh->key) *low = rest, low = &rest->right, rest = rest->right;
        else *high = rest, high = &rest->left, rest = rest->left;
    }
    *low = *high = NULL;
    return tree;
}

static unsigned find(unsigned *parent, unsigned x) {
    while (parent[x] != x) x = parent[x] = parent[parent[x]];
    return x;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    unsigned count = (unsigned)atoi(argv[1]);
    struct item *items = calloc(count, sizeof *items), *list = NULL;
    for (unsigned i = 0; i < count; i++) {
        items[i].key = chance() % (4 * count);
        items[i].next = list;
        list = &items[i];
    }
    list = sort(list);
    unsigned distinct = 0;
    for (struct item *at = list; at; at = at->next) distinct += !at->next || at->next->key != at->key;
    struct item *turned = NULL;
    while (list) {
        struct item *next = list->next;
        list->next = turned;
        turned = list;
        list = next;
    }
    printf("%u distinct, largest %u\n", distinct, turned->key);

    struct node *nodes = calloc(count, sizeof *nodes), *tree = NULL;
    for (unsigned i = 0; i < count; i++) {
        nodes[i].key = chance();
        nodes[i].rank = chance();
        tree = insert(tree, &nodes[i]);
    }
    unsigned hits = 0, steps = 0;
    for (unsigned i = 0; i < 2 * count; i++) {
        unsigned key = i % 2 ? nodes[i / 2].key : chance();
        for (struct node *at = tree; at; at = key < at->key ? at->left : at->right) {
            steps++;
            if (at->key == key) {
                hits++;
                break;
            }
        }
    }
    unsigned long sum = 0;
    while (tree) {
        sum = sum * 31 + tree->key;
        tree = join(tree->left, tree->right);
    }
    printf("%u hits in %u steps, sum %lx\n", hits, steps, sum);

    struct item **table = calloc(1024, sizeof *table);
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++) {
        struct item **chain = &table[items[i].key % 1024], *at = *chain;
        while (at && at->key != items[i].key) at = at->next;
        if (at) {
            found++;
        } else {
            items[i].next = *chain;
            *chain = &items[i];
        }
    }
    unsigned *parent = calloc(count, sizeof *parent), sets = count;
    for (unsigned i = 0; i < count; i++) parent[i] = i;
    for (unsigned i = 0; i < count; i++) {
        unsigned a = find(parent, chance() % count), b = find(parent, chance() % count);
        if (a != b) parent[a] = b, sets--;
    }
    printf("%u found again, %u sets\n", found, sets);
    free(items);
    free(nodes);
    free(table);
    free(parent);
    return 0;
}
