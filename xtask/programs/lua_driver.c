// Runs Lua scripts, each in a state of its own, with errors caught as the stand-alone interpreter does.
//
//     lua_driver SCALE SCRIPT…
//
// Compiled as C, Lua leaves errors by longjmp; compiled as C++, by exceptions. SCALE is the global `scale` of the scripts.
#include <stdio.h>
#include <stdlib.h>
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

static int traceback(lua_State *L) {
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    return 1;
}

static int apply(lua_State *L) {  // calls back into Lua, so that errors cross frames of C
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int failures = 0;
    for (int i = 2; i < argc; i++) {
        lua_State *L = luaL_newstate();
        luaL_openlibs(L);
        lua_pushinteger(L, atoi(argv[1]));
        lua_setglobal(L, "scale");
        lua_register(L, "apply", apply);
        lua_pushcfunction(L, traceback);
        if (luaL_loadfile(L, argv[i]) != LUA_OK || lua_pcall(L, 0, 0, 1) != LUA_OK) {
            printf("failed: %s\n", lua_tostring(L, -1));
            failures++;
        }
        lua_close(L);
    }
    return failures;
}
