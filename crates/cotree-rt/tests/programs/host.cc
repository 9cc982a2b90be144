// A profiled program with a profiled library linked and another loaded, twice, while a thread waits.
#include "unit.h"
#include <dlfcn.h>
#include <pthread.h>
extern "C" void count_many(void);
extern "C" void throw_one(void);
extern "C" void leave(void);
typedef void (*function)(void);
static pthread_barrier_t loaded;
static function many;
static void *early(void *) {
    pthread_barrier_wait(&loaded);
    many();
    count_many();
    return 0;
}
static void *late(void *) { many(); count_many(); return 0; }
static NOINLINE void catching(function f) {
    try { f(); } catch (...) { BUMP(1); }
}
int main() {
    for (int round = 0; round < 2; round++) {
        pthread_t t[4];
        pthread_barrier_init(&loaded, 0, 3);
        for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, early, 0);
        void *library = dlopen("./libloaded.so", RTLD_NOW | RTLD_LOCAL);
        if (!library) return puts(dlerror()), 1;
        many = (function)dlsym(library, "count_many");
        function thrower = (function)dlsym(library, "throw_one");
        pthread_barrier_wait(&loaded);
        for (int i = 2; i < 4; i++) pthread_create(&t[i], 0, late, 0);
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
        if (round == 0) catching(thrower);
        else catching(throw_one);
        dlclose(library);
    }
    leave();
}
