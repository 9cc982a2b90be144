// A program that is not profiled and loads a library that is.
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    void *library = dlopen("./libloaded.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) return puts(dlerror()), 1;
    void (*many)(void) = (void (*)(void))dlsym(library, "count_many");
    many();
    int pid = fork();
    if (pid == 0) { many(); return 0; }
    waitpid(pid, 0, 0);
    if (dlclose(library)) return 2;
    return 0;
}
