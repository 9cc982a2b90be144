// Intersects, joins and grows star-shaped polygons with Clipper, by standard containers, virtual functions and exceptions.
//
//     clipper_driver CORNERS ROUNDS
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include "clipper.hpp"

using namespace ClipperLib;

static unsigned state = 4711;

static int chance(int below) {
    state = state * 1103515245u + 12345u;
    return static_cast<int>((state >> 8) % static_cast<unsigned>(below));
}

// Integer steps only: what libm rounds in its last place is not ours to test.
static Path star(int corners, cInt x, cInt y) {
    Path path;
    for (int i = 0; i < corners; i++) {
        const int side = i * 4 / corners;
        const cInt along = (i * 4 % corners) * 20000 / corners, far = 3000 + chance(7000);
        const cInt u = side == 0 ? along - 10000 : side == 1 ? far : side == 2 ? 10000 - along : -far;
        const cInt v = side == 0 ? -far : side == 1 ? along - 10000 : side == 2 ? far : 10000 - along;
        path.push_back(IntPoint(x + u, y + v));
    }
    return path;
}

static void tell(const char *what, const Paths &paths) {
    size_t points = 0;
    unsigned long hash = 1469598103934665603UL;
    double area = 0;
    for (const Path &path : paths) {
        points += path.size();
        area += Area(path);
        for (const IntPoint &point : path) hash = (hash ^ static_cast<unsigned long>(point.X * 31 + point.Y)) * 1099511628211UL;
    }
    std::printf("%s: %zu paths, %zu points, area %.0f, hash %016lx\n", what, paths.size(), points, area, hash);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const int corners = std::atoi(argv[1]), rounds = std::atoi(argv[2]);
    for (int round = 0; round < rounds; round++) {
        Paths subject, clip, solution;
        for (int i = 0; i < 6; i++) {
            // One after the other: compilers evaluate arguments in any order.
            for (Paths *paths : {&subject, &clip}) {
                const int x = chance(20000), y = chance(20000);
                paths->push_back(star(corners, x, y));
            }
        }
        static const char *const names[] = {"intersection", "union", "difference", "xor"};
        for (int type = 0; type < 4; type++) {
            Clipper clipper;
            clipper.AddPaths(subject, ptSubject, true);
            clipper.AddPaths(clip, ptClip, true);
            clipper.Execute(static_cast<ClipType>(type), solution, pftNonZero, pftEvenOdd);
            tell(names[type], solution);
        }
        ClipperOffset offset;
        offset.AddPaths(solution, jtMiter, etClosedPolygon);
        offset.Execute(solution, 100.0);
        tell("grown", solution);
        CleanPolygons(solution);
        SimplifyPolygons(solution);
        tell("simplified", solution);
        try {
            Clipper clipper;
            clipper.AddPath({IntPoint(0, 0), IntPoint(0x4000000000000000LL, 1), IntPoint(1, 1)}, ptSubject, true);
            std::printf("not refused\n");
        } catch (const clipperException &e) {
            std::printf("refused: %s\n", e.what());
        }
    }
    return 0;
}
