// The sum of Kirchhoff time migration over traces, its transpose, and a plain loop to measure it by.
//
// A trace of source s and receiver r adds to the image at (x, t0)
//
//     w(x, t0) u(t(x, t0)),   t = t_s + t_r,   t_l² = (1 - b) H_l + sqrt(b² H_l² + g (1 - 4 b) (t0/2)² X_l),
//     H_l = (t0/2)² + g X_l,   X_l = |x - l|² / v(x, t0)²,   g = 1 / (1 + 2 eta),   b = 1 / (4 (1 + eta))
//
// the double square root with effective eta (Fomel 2004, Geophysical Prospecting 52, for each leg; eta = 0:
// t_l² = (t0/2)² + X_l), u being the trace smoothed by a triangle of the half-length max(|dt/dx| dx, |dt/dy| dy).
// Weights of constant velocity (Bleistein, Cohen & Stockwell 2001, Mathematics of multidimensional seismic imaging):
// docs/theory.md. Weights and half-lengths are evaluated at nodes, every `segment`
// samples of t0 from the first on, and interpolated linearly in between: so an image does not depend on how it is cut.
#pragma once

#include <cstdint>

#include "bank.hpp"

namespace fathometer::kirchhoff {

constexpr int segment = 16; // samples of t0 between nodes

enum class Weights : int32_t { none, point_3d, point_2d, line_2d };

struct Traces {
    Bank bank;
    int64_t count;
    const float *rows;      // (count, rows, length)
    const double *geometry; // (count, 5): x, y of source and receiver, m; time added to that of the operator, s
    const int32_t *volume;  // (count): which image of the tile each is added to; negative: none
    double first, interval; // of the samples of the rows behind their margin, s
};

// Columns of an image. Columns are `segments` * segment samples long.
struct Tile {
    int64_t volumes, nx, ny, segments;
    int64_t first_x, first_y;     // index of the first column in the whole image
    double x, y, dx, dy;          // place of the first column of the whole image and distance, m
    double start, dt;             // of t0, s
    const float *slowness2;       // (nx, ny, segments * segment), 1 / v², s²/m²
    const float *eta;             // the same shape, or null
    const float *node_slowness2;  // at the nodes, (nx, ny, segments + 1)
    const float *node_g, *node_b; // of eta at the nodes, the same shape, or null
    float *image;                 // (volumes, nx, ny, segments * segment)
    float *fold;                  // (nx, ny, segments + 1), or null: sum of tapers at nodes

    // From the index in the whole image: the same bits whatever the tile.
    double column_x(int64_t column) const { return x + double(first_x + column / ny) * dx; }
    double column_y(int64_t column) const { return y + double(first_y + column % ny) * dy; }
};

struct Operator {
    Weights weights;
    double scale;             // of all weights: the area (length) of a trace
    double aperture, tan_dip; // largest distance from the midpoint, m; largest tangent of the dip
    double taper;             // fraction of both over which weights fall to 0
    double alias_x, alias_y;  // m
};

// image += sum over the traces, in their order; fold too. Returns the samples that were computed.
int64_t migrate(const Tile &tile, const Traces &traces, const Operator &op);

// rows += the transpose: what the image makes of the traces (`rows` of traces, written here).
void demigrate(const Tile &tile, const Traces &traces, const Operator &op, float *rows);

// As `migrate`, sample by sample as one would write it first.
int64_t migrate_plainly(const Tile &tile, const Traces &traces, const Operator &op);

} // namespace fathometer::kirchhoff
