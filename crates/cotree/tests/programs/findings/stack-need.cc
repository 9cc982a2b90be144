// How much of a small stack is used: each case runs in a thread of a child process, on a stack that the parent reads afterwards.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cerrno>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cotree.h"

static const size_t SIZE = 256 << 10;
static unsigned char *stack, *own;
static size_t *used;
static volatile long sum;
static sigjmp_buf back;

__attribute__((noinline)) static void turn(int n) { for (int i = 0; i < n; i++) if (i % 3) sum += i; }
__attribute__((noinline)) static void leap(int n) { turn(n); siglongjmp(back, 1); }
__attribute__((noinline)) static void thrower(int n) { turn(n); if (n > 1) throw n; }
static void on_usr1(int) { turn(300000); }
static void on_usr2(int) { turn(3); siglongjmp(back, 1); }
static void *other(void *) { turn(9); return nullptr; }

static void nothing() {}
static void work() { turn(300000); }
static void jump() { if (!sigsetjmp(back, 1)) leap(7); }
static void raising() { try { thrower(5); } catch (int n) { sum += n; } }
static void forks() { pid_t child = fork(); if (child == 0) _exit(0); waitpid(child, nullptr, 0); }
static void fails_to_exec() { execl("/nowhere", "nowhere", (char *)nullptr); }
static void makes_thread() { pthread_t t; pthread_create(&t, nullptr, other, nullptr); pthread_join(t, nullptr); }
static void leaves_thread() { pthread_exit(nullptr); }
static void exits() { exit(0); }
static void quits() { _exit(0); }
static void aborts() { abort(); }
static void signals_itself() { raise(SIGUSR1); }
static void jumps_from_handler() { if (!sigsetjmp(back, 1)) raise(SIGUSR2); }
static void dumps() { cotree_dump("dump.cotree"); }
static void resets() { cotree_reset(); }
static void faults() { *(volatile int *)nullptr = 1; }
static void terminates() { raise(SIGTERM); }

// A thread that forks and its child must not share the stack: that is read by the process itself.
struct Case { const char *name; void (*act)(); bool forks; };
static const Case cases[] = {
    {"nothing", nothing}, {"work", work}, {"jump", jump}, {"throw", raising}, {"fork", forks, true}, {"exec", fails_to_exec},
    {"thread", makes_thread}, {"pthread_exit", leaves_thread}, {"exit", exits}, {"_exit", quits}, {"abort", aborts},
    {"handler", signals_itself}, {"handler-jump", jumps_from_handler}, {"dump", dumps}, {"reset", resets},
    {"fault", faults}, {"terminate", terminates},
};

static size_t used_of(unsigned char *stack) {
    size_t at = 0;
    while (at < SIZE && stack[at] == 0x5a) at++;
    return SIZE - at;
}
static void *run(void *act) { reinterpret_cast<void (*)()>(act)(); return nullptr; }

int main() {
    stack = static_cast<unsigned char *>(mmap(nullptr, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    used = static_cast<size_t *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    own = static_cast<unsigned char *>(mmap(nullptr, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memset(own, 0x5a, SIZE);
    signal(SIGUSR1, on_usr1);
    signal(SIGUSR2, on_usr2);
    for (const Case &one : cases) {
        memset(stack, 0x5a, SIZE);
        pid_t child = fork();
        if (child == 0) {
            pthread_attr_t attributes;
            pthread_attr_init(&attributes);
            pthread_attr_setstack(&attributes, one.forks ? own : stack, SIZE);
            pthread_t thread;
            if (pthread_create(&thread, &attributes, run, reinterpret_cast<void *>(one.act))) _exit(9);
            pthread_join(thread, nullptr);
            if (one.forks) *used = used_of(own);
            _exit(0);
        }
        waitpid(child, nullptr, 0);
        printf("%s %zu\n", one.name, one.forks ? *used : used_of(stack));
        fflush(stdout);
    }
}
