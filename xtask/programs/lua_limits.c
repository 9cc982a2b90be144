// Runs Lua scripts in states of their own until a limit of events raises an error: one thread after another, then two at a time.
//
//     lua_limits SCALE SCRIPT…
//
// Compiled as C, the callback leaves by longjmp; compiled as C++, by an exception. It may strike anywhere, also while tables are
// resized or garbage is collected, so the state is not used any more.
#include <cotree.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"
#include "lstate.h"

static __thread lua_State *current;
static __thread unsigned long long struck_at, allocations;

struct job {
    int number, argc;
    char **argv;
    char *text;
    size_t length;
};

static void strike(void) {
    if (!current->errorJmp) return;  // The script has just ended.
    struck_at = cotree_event_count(COTREE_INSTRUCTIONS);
    allocations = cotree_event_count(COTREE_ALLOCATIONS);
    lua_pushlightuserdata(current, &current);
    lua_error(current);
}

static int apply(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int silent(lua_State *L) {
    (void)L;
    return 0;
}

// Runs a script for so many instructions.
static int attempt(struct job *job, FILE *out, const char *script, unsigned long long instructions) {
    lua_State *L = current = luaL_newstate();
    luaL_openlibs(L);
    lua_pushinteger(L, atoi(job->argv[1]));
    lua_setglobal(L, "scale");
    lua_register(L, "apply", apply);
    lua_register(L, "print", silent);
    lua_getglobal(L, "io");
    lua_pushcfunction(L, silent);
    lua_setfield(L, -2, "write");
    lua_pop(L, 1);
    if (luaL_loadfile(L, script) != LUA_OK) return fprintf(out, "no script\n"), 0;
    unsigned long long begin = cotree_event_count(COTREE_INSTRUCTIONS);
    unsigned long long limit = begin + instructions;
    if (cotree_event_limit(COTREE_INSTRUCTIONS, limit, strike) != 0) return fprintf(out, "no limit\n"), 0;
    int status = lua_pcall(L, 0, 0, 0);
    cotree_event_limit(COTREE_INSTRUCTIONS, 0, 0);
    if (status != LUA_OK && lua_touserdata(L, -1) == &current) {
        fprintf(out, "struck at %llu for %llu, %llu allocations, after %llu\n", struck_at, limit, allocations,
                cotree_event_count(COTREE_INSTRUCTIONS));
        return 1;
    }
    fprintf(out, "ended with %d after %llu\n", status, cotree_event_count(COTREE_INSTRUCTIONS) - begin);
    lua_close(L);
    return 0;
}

static void *run(void *argument) {
    struct job *job = (struct job *)argument;
    FILE *out = open_memstream(&job->text, &job->length);
    for (int i = 2; i < job->argc; i++) {
        unsigned long long instructions = 1000;
        while (attempt(job, out, job->argv[i], instructions) && instructions < 4000000) instructions = instructions * 7 / 3 + i;
    }
    fclose(out);
    return 0;
}

int main(int argc, char **argv) {
    struct job jobs[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        jobs[i].number = i;
        jobs[i].argc = argc;
        jobs[i].argv = argv;
        jobs[i].text = 0;
        jobs[i].length = 0;
    }
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], 0, run, &jobs[i]);
        if (i < 2) pthread_join(threads[i], 0);
    }
    pthread_join(threads[2], 0);
    pthread_join(threads[3], 0);
    for (int i = 0; i < 4; i++) printf("thread %d\n%s", i, jobs[i].text);
    return 0;
}
