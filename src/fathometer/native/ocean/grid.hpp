// The blocks of a rank: what does not change from step to step.
//
// Arrays have axes block, x, y and, if three-dimensional, level (0 uppermost), which is contiguous. A block of extents
// (ex, ey) owns the cells halo <= x < halo + ex, halo <= y < halo + ey; U point (x, y) is the north-east corner of cell
// (x, y), its east face the one towards x + 1, its north face the one towards y + 1. Values on land are zero.
//
// No kernel's result depends on blocks, tiles or threads: each value comes from the same expression of the same values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fathometer::ocean {

constexpr int64_t halo = 3;

enum class StateEquation { linear = 0, wright = 1 };
enum class Drag { none = 0, linear = 1, quadratic = 2 };

// See Physics in apps/ocean/solver/physics.py.
struct Numbers {
    double gravity, density, viscosity, diffusivity, vertical_viscosity, vertical_diffusivity, convective_diffusivity;
    Drag drag;
    double drag_coefficient;
    StateEquation state_equation;
    double expansion, contraction, reference_temperature, reference_salinity;
    bool advect_momentum;
};

// Owned columns of a block that are computed together: [x0, x1) x [y0, y1) with water among them.
struct Tile {
    int64_t block, x0, x1, y0, y1;
    bool first_x, last_x, first_y, last_y; // at which borders of the block it lies
};

struct Grid {
    int64_t blocks, nx, ny, nz; // of the arrays, halos included
    std::vector<int64_t> extents;
    std::vector<int32_t> levels, levels_u;            // (blocks, nx, ny)
    std::vector<double> dx, dx_u, f, tan_over_radius; // (blocks, ny): dx of the cells, all others of U points
    std::vector<double> thickness, bottoms;           // (nz), (nz + 1)
    double dy, curvature;                             // m; 1 / radius², 0 on a plane
    std::vector<Tile> tiles;

    int64_t column(int64_t block, int64_t x, int64_t y) const { return (block * nx + x) * ny + y; }
    int64_t cells() const { return blocks * nx * ny * nz; }
    int64_t columns() const { return blocks * nx * ny; }

    // Thickness of the uppermost level at a U point of the column.
    double top_u(const double *eta, int64_t column) const {
        const double *here = eta + column, *east = here + ny;
        return thickness[0] + 0.25 * ((here[0] + east[0]) + (here[1] + east[1]));
    }

    void cut_tiles(int64_t width_x, int64_t width_y) {
        for (int64_t b = 0; b < blocks; ++b) {
            const int64_t end_x = halo + extents[2 * b], end_y = halo + extents[2 * b + 1];
            for (int64_t x = halo; x < end_x; x += width_x)
                for (int64_t y = halo; y < end_y; y += width_y) {
                    const Tile tile{b,
                                    x,
                                    std::min(x + width_x, end_x),
                                    y,
                                    std::min(y + width_y, end_y),
                                    x == halo,
                                    x + width_x >= end_x,
                                    y == halo,
                                    y + width_y >= end_y};
                    if (has_water(tile))
                        tiles.push_back(tile);
                }
        }
    }

  private:
    bool has_water(const Tile &t) const {
        for (int64_t x = t.x0; x < t.x1; ++x)
            for (int64_t y = t.y0; y < t.y1; ++y)
                if (levels[column(t.block, x, y)] > 0)
                    return true;
        return false;
    }
};

// Calls body(tile, scratch) for all tiles; every thread has a Scratch of its own, made by make().
template <class Make, class Body> void over_tiles(const Grid &grid, Make make, Body body) {
    const int64_t count = int64_t(grid.tiles.size());
#pragma omp parallel if (count > 1)
    {
        auto scratch = make();
#pragma omp for schedule(dynamic)
        for (int64_t n = 0; n < count; ++n)
            body(grid.tiles[n], scratch);
    }
}

} // namespace fathometer::ocean
