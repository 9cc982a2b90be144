// Reorders, simplifies, cuts up and packs a bumpy grid of triangles with meshoptimizer.
//
//     meshopt_driver SIDE
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "meshoptimizer.h"

struct Vertex {
    float x, y, z;
};

static unsigned long hash_of(const unsigned *data, size_t count) {
    unsigned long hash = 1469598103934665603UL;
    for (size_t i = 0; i < count; i++) hash = (hash ^ data[i]) * 1099511628211UL;
    return hash;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const unsigned side = static_cast<unsigned>(std::atoi(argv[1]));
    std::vector<Vertex> corners;
    unsigned state = 99;
    auto corner = [&](unsigned x, unsigned y) {
        const unsigned height = (x * x * 7 + y * y * 3 + x * y) % 64;
        corners.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(height) / 8});
    };
    for (unsigned n = 0; n < side * side; n++) {
        state = state * 1103515245u + 12345u;
        const unsigned x = (state >> 8) % side, y = (state >> 16) % side;
        corner(x, y), corner(x + 1, y), corner(x, y + 1);
        corner(x + 1, y), corner(x + 1, y + 1), corner(x, y + 1);
    }
    std::vector<unsigned> remap(corners.size());
    const size_t count = meshopt_generateVertexRemap(remap.data(), nullptr, corners.size(), corners.data(), corners.size(), sizeof(Vertex));
    std::vector<unsigned> indices(corners.size());
    std::vector<Vertex> vertices(count);
    meshopt_remapIndexBuffer(indices.data(), nullptr, corners.size(), remap.data());
    meshopt_remapVertexBuffer(vertices.data(), corners.data(), corners.size(), sizeof(Vertex), remap.data());
    std::printf("%zu vertices, %zu indices\n", count, indices.size());
    meshopt_optimizeVertexCache(indices.data(), indices.data(), indices.size(), count);
    std::printf("cache %016lx\n", hash_of(indices.data(), indices.size()));
    meshopt_optimizeOverdraw(indices.data(), indices.data(), indices.size(), &vertices[0].x, count, sizeof(Vertex), 1.05f);
    std::printf("overdraw %016lx\n", hash_of(indices.data(), indices.size()));
    meshopt_optimizeVertexFetch(vertices.data(), indices.data(), indices.size(), vertices.data(), count, sizeof(Vertex));
    std::vector<unsigned> simple(indices.size());
    float error = 0;
    simple.resize(meshopt_simplify(simple.data(), indices.data(), indices.size(), &vertices[0].x, count, sizeof(Vertex), indices.size() / 4, 0.05f, 0, &error));
    std::printf("simplified to %zu\n", simple.size() > 0);
    std::vector<unsigned char> packed(meshopt_encodeIndexBufferBound(indices.size(), count));
    packed.resize(meshopt_encodeIndexBuffer(packed.data(), packed.size(), indices.data(), indices.size()));
    std::vector<unsigned> back(indices.size());
    const int status = meshopt_decodeIndexBuffer(back.data(), back.size(), packed.data(), packed.size());
    std::printf("packed to %zu bytes, %d, %016lx\n", packed.size(), status, hash_of(back.data(), back.size()));
    std::vector<unsigned> strip(meshopt_stripifyBound(indices.size()));
    strip.resize(meshopt_stripify(strip.data(), indices.data(), indices.size(), count, ~0u));
    std::printf("strip of %zu, %016lx\n", strip.size(), hash_of(strip.data(), strip.size()));
    return 0;
}
