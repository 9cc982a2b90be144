// Puzzles by backtracking: sudoku, queens, and moves of knights: recursion, bit sets, and branches that nobody can foretell.
//
//     puzzle QUEENS SUDOKUS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long queens(int n, unsigned columns, unsigned falling, unsigned rising) {
    unsigned all = (1u << n) - 1;
    if (columns == all) return 1;
    long solutions = 0;
    for (unsigned free_places = all & ~(columns | falling | rising); free_places;) {
        unsigned place = free_places & -free_places;
        free_places ^= place;
        solutions += queens(n, columns | place, (falling | place) << 1 & all, (rising | place) >> 1);
    }
    return solutions;
}

static int cells[81];
static unsigned rows[9], columns[9], boxes[9];
static long tried;

static int solve(void) {
    int best = -1, fewest = 10;
    unsigned choices = 0;
    for (int i = 0; i < 81; i++) {
        if (cells[i]) continue;
        unsigned open = 0x1ff & ~(rows[i / 9] | columns[i % 9] | boxes[i / 27 * 3 + i % 9 / 3]);
        int count = 0;
        for (unsigned rest = open; rest; rest &= rest - 1) count++;
        if (count < fewest) {
            fewest = count;
            best = i;
            choices = open;
            if (count < 2) break;
        }
    }
    if (best < 0) return 1;
    for (int digit = 1; digit <= 9; digit++) {
        unsigned bit = 1u << (digit - 1);
        if (!(choices & bit)) continue;
        tried++;
        cells[best] = digit;
        rows[best / 9] |= bit;
        columns[best % 9] |= bit;
        boxes[best / 27 * 3 + best % 9 / 3] |= bit;
        if (solve()) return 1;
        cells[best] = 0;
        rows[best / 9] &= ~bit;
        columns[best % 9] &= ~bit;
        boxes[best / 27 * 3 + best % 9 / 3] &= ~bit;
    }
    return 0;
}

static int sudoku(const char *puzzle) {
    memset(rows, 0, sizeof rows);
    memset(columns, 0, sizeof columns);
    memset(boxes, 0, sizeof boxes);
    for (int i = 0; i < 81; i++) {
        cells[i] = puzzle[i] == '.' ? 0 : puzzle[i] - '0';
        if (!cells[i]) continue;
        unsigned bit = 1u << (cells[i] - 1);
        rows[i / 9] |= bit;
        columns[i % 9] |= bit;
        boxes[i / 27 * 3 + i % 9 / 3] |= bit;
    }
    return solve();
}

static long knights(int square, int moves, unsigned long visited) {
    static const int dx[] = {1, 2, 2, 1, -1, -2, -2, -1}, dy[] = {2, 1, -1, -2, -2, -1, 1, 2};
    if (moves == 0) return 1;
    long ways = 0;
    for (int k = 0; k < 8; k++) {
        int x = square % 8 + dx[k], y = square / 8 + dy[k];
        if (x < 0 || x > 7 || y < 0 || y > 7 || visited >> (8 * y + x) & 1) continue;
        ways += knights(8 * y + x, moves - 1, visited | 1ul << (8 * y + x));
    }
    return ways;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    static const char *const puzzles[] = {
        "52...6.........7.13...........4..8..6......5...........418.........3..2...87.....",
        "48.3............71.2.......7.5....6....2..8.............1.76...3.....4......5....",
        "....14....3....2...7..........9...3.6.1.............8.2.....1.4....5.6.....7.8...",
        "4.....8.5.3..........7......2.....6.....8.4......1.......6.3.7.5..2.....1.4......",
        "6.....8.3.4.7.................5.4.7.3..2.....1.6.......2.....5.....8.6......1....",
    };
    int most = atoi(argv[1]), rounds = atoi(argv[2]);
    for (int n = 4; n <= most; n++) printf("%d queens: %ld\n", n, queens(n, 0, 0, 0));
    for (int i = 0; i < rounds; i++) {
        int solved = sudoku(puzzles[i % 5]);
        printf("%s, %ld tried, first row %d%d%d\n", solved ? "solved" : "no solution", tried, cells[0], cells[1], cells[2]);
    }
    printf("%ld ways of the knight\n", knights(0, most / 2 + 1, 1));
    return 0;
}
