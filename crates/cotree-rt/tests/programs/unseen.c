// A thread that libc's own pthread_create starts, past our hook, in the middle of the program's own threads. It forks, so
// that a child begins in a thread that nobody knows.
#define _GNU_SOURCE
#include "unit.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
NOINLINE void *unseen(void *p) {
    ENTERED();
    BUMP(1);
    pid_t child = fork();
    if (child == 0) {
        ENTERED();
        BUMP(2);
        exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status) abort();
    BUMP(1);
    return p;
}
static void *known(void *p) {
    ENTERED();
    BUMP(3);
    pthread_t t;
    if (create(&t, 0, unseen, 0)) abort();
    pthread_join(t, 0);
    BUMP(3);
    return p;
}
int main(void) {
    ENTERED();
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    *(void **)&create = dlsym(libc, "pthread_create");
    pthread_t t;
    pthread_create(&t, 0, known, 0);
    pthread_join(t, 0);
    return 0;
}
