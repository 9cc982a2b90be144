// A program with a use of its own for GS, and a child that is forked meanwhile.
#include "unit.h"
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static uint64_t own[4096];
int main(void) {
    BUMP(0);
    // 0x1001 is ARCH_SET_GS.
    if (syscall(SYS_arch_prctl, 0x1001, own)) return 1;
    uint64_t seen;
    own[1] = 42;
    __asm__ volatile("movq %%gs:8, %0" : "=r"(seen));
    if (seen != 42) return 2;
    pid_t child = fork();
    if (child == 0) exit(0);
    int status;
    if (waitpid(child, &status, 0) != child || status) return 3;
    return 0;
}
