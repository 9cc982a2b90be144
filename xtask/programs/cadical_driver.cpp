// CaDiCaL, a SAT solver, shown that pigeons do not fit into fewer holes, and that they do into as many.
//
//     cadical HOLES
#include "cadical.hpp"
#include <cstdio>
#include <cstdlib>

static int solve(int pigeons, int holes) {
    CaDiCaL::Solver solver;
    solver.set("quiet", 1);
    auto sits = [holes](int pigeon, int hole) { return pigeon * holes + hole + 1; };
    for (int pigeon = 0; pigeon < pigeons; pigeon++) {
        for (int hole = 0; hole < holes; hole++) solver.add(sits(pigeon, hole));
        solver.add(0);
    }
    for (int hole = 0; hole < holes; hole++)
        for (int one = 0; one < pigeons; one++)
            for (int other = 0; other < one; other++) {
                solver.add(-sits(one, hole));
                solver.add(-sits(other, hole));
                solver.add(0);
            }
    return solver.solve();
}

int main(int argc, char **argv) {
    const int holes = argc > 1 ? atoi(argv[1]) : 5;
    std::printf("%d %d\n", solve(holes + 1, holes), solve(holes, holes));
}
