/* An independent tally: `T(k);` alone on a line counts, in a file of the process's own, how often the line ran.
   Tests compare these numbers with the line counts of the profile. */
#ifndef TALLY_H
#define TALLY_H
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __cplusplus
extern "C" {
#endif
#ifndef TALLY_SLOTS
#define TALLY_SLOTS 64
#endif
static volatile unsigned long *tally;
__attribute__((noinline, no_profile_instrument_function)) static void tally_open(void) {
    char name[64];
    snprintf(name, sizeof name, "tally.%d.bin", (int)getpid());
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, TALLY_SLOTS * sizeof *tally) != 0) _exit(99);
    tally = (volatile unsigned long *)mmap(0, TALLY_SLOTS * sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}
__attribute__((constructor(200), no_profile_instrument_function)) static void tally_start(void) { tally_open(); }
#define T(k) __atomic_fetch_add(&tally[k], 1, __ATOMIC_RELAXED)
#ifdef __cplusplus
}
#endif
#endif
