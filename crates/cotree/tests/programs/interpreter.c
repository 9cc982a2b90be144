/* An interpreter's loop: paths between backedges, calls back into itself, errors that leave it by a jump. */
#include "tally.h"
#include <setjmp.h>
#include <string.h>
enum { PUSH, ADD, SUB, DUP, SWAP, JUMP, IF_ZERO, CALL, FAIL, MUL, MOD, HALT };
struct frame {
    jmp_buf error;
    struct frame *up;
};
static struct frame *top;
static long steps;
__attribute__((noinline)) static void fail(int code) {
    T(1);
    longjmp(top->error, code);
}
static long run(const int *code, long argument, int depth) {
    long stack[64];
    int sp = 0, pc = 0;
    T(2);
    stack[sp++] = argument;
    for (;;) {
        T(3);
        steps++;
        int op = code[pc++], operand = code[pc++];
        if (sp > 60) fail(7);
        switch (op) {
        case PUSH:
            T(4);
            stack[sp++] = operand;
            break;
        case ADD:
        case SUB:
            T(5);
            sp--;
            stack[sp - 1] += op == ADD ? stack[sp] : -stack[sp];
            break;
        case DUP:
            T(6);
            stack[sp] = stack[sp - 1];
            sp++;
            break;
        case SWAP: {
            T(7);
            long t = stack[sp - 1];
            stack[sp - 1] = stack[sp - 2];
            stack[sp - 2] = t;
            break;
        }
        case IF_ZERO:
            T(8);
            if (stack[--sp] != 0) break;
            /* fall through */
        case JUMP:
            T(9);
            pc = operand * 2;
            break;
        case CALL:
            T(10);
            if (depth < 3) {
                T(11);
                stack[sp - 1] = run(code, stack[sp - 1] / 2, depth + 1);
                T(12);
            } else if (stack[sp - 1] % 5 == 4) {
                T(13);
                fail(depth);
            }
            break;
        case FAIL:
            T(14);
            if (stack[sp - 1] == operand) fail(9);
            break;
        case MUL:
            T(15);
            stack[sp - 1] *= operand;
            break;
        case MOD:
            T(16);
            stack[sp - 1] = operand ? stack[sp - 1] % operand : 0;
            break;
        default:
            T(17);
            return stack[sp - 1];
        }
    }
}
static const int program[] = {
    PUSH, 10, SWAP, 0, DUP, 0, MUL, 7, ADD, 0, MOD, 101, CALL, 0, FAIL, 13, SWAP, 0, PUSH, 1, SUB, 0, DUP, 0, IF_ZERO, 14,
    JUMP, 1, SWAP, 0, HALT, 0,
};
static long guarded(long argument) {
    struct frame frame;
    T(18);
    frame.up = top;
    top = &frame;
    long result = -1;
    if (setjmp(frame.error) == 0) {
        T(19);
        result = run(program, argument, 0);
        T(20);
    } else {
        T(21);
    }
    top = frame.up;
    return result;
}
int main(void) {
    long sum = 0;
    for (int i = 1; i < 60; i++) {
        T(22);
        sum += guarded(i);
    }
    printf("%ld %ld\n", sum, steps);
    T(23);
    return 0;
}
