// Runs Lua scripts, each in a state of its own, with errors caught as the stand-alone interpreter does.
//
//     lua_driver SCALE SCRIPT…
//
// Compiled as C, Lua leaves errors by longjmp; compiled as C++, by exceptions. SCALE is the global `scale` of the scripts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

// Loads a script by its file's name alone: messages, and so instructions, are the same wherever the sources are.
static int load(lua_State *L, const char *path) {
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    if (!file) return lua_pushfstring(L, "cannot open %s", path), LUA_ERRFILE;
    size_t size = fread(text, 1, sizeof text, file);
    int whole = feof(file);
    fclose(file);
    if (!whole) return lua_pushfstring(L, "%s is too long", path), LUA_ERRFILE;
    const char *slash = strrchr(path, '/');
    lua_pushfstring(L, "@%s", slash ? slash + 1 : path);
    int status = luaL_loadbuffer(L, text, size, lua_tostring(L, -1));
    lua_remove(L, -2);
    return status;
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
        if (load(L, argv[i]) != LUA_OK || lua_pcall(L, 0, 0, 1) != LUA_OK) {
            printf("failed: %s\n", lua_tostring(L, -1));
            failures++;
        }
        lua_close(L);
    }
    return failures;
}
