// Runs Lua scripts and asks for all counts of events at points of the interpreter that look random, a thousand or more.
//
//     lua_queries SCALE SCRIPT…
#include <cotree.h>
#include <stdio.h>
#include <stdlib.h>
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"
#include "lua_queries.h"

static unsigned random_state = 4321;
long cotree_countdown = 1;

static void print_counts(void) {
    for (int kind = COTREE_INSTRUCTIONS; kind <= COTREE_COST; kind++) printf(" %llu", cotree_event_count(kind));
    printf("\n");
}

void cotree_ask(const char *where) {
    printf("\nasked in %s:", where);
    print_counts();
    random_state = random_state * 1103515245 + 12345;
    cotree_countdown = 1 + (random_state >> 8) % 150;
}

static int apply(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

int main(int argc, char **argv) {
    for (int i = 2; i < argc; i++) {
        lua_State *L = luaL_newstate();
        luaL_openlibs(L);
        lua_pushinteger(L, atoi(argv[1]));
        lua_setglobal(L, "scale");
        lua_register(L, "apply", apply);
        if (luaL_loadfile(L, argv[i]) != LUA_OK || lua_pcall(L, 0, 0, 0) != LUA_OK) printf("failed: %s\n", lua_tostring(L, -1));
        lua_close(L);
    }
    printf("\nin the end:");
    print_counts();
    return 0;
}
