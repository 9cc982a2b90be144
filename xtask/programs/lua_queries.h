// Included in front of all files of Lua: points at which it may ask for its events.
//
// Each point is a countdown, so that asking is rare and the code around is what it is without.
#ifndef LUA_QUERIES_H
#define LUA_QUERIES_H

extern long cotree_countdown;
extern void cotree_ask(const char *where);

#define COTREE_ASK(where) (--cotree_countdown == 0 ? cotree_ask(where) : (void)0)

#endif
