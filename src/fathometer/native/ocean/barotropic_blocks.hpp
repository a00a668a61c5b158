// Rows of water of a rank's blocks, and threads that share them.
//
// Two-dimensional arrays have axes block, x, y (contiguous), of the shape (blocks, nx, ny), halos included; a block of
// extents (ex, ey) owns the cells halo <= x < halo + ex, halo <= y < halo + ey.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/denormals.hpp"

namespace fathometer::ocean {

// Cells [y0, y1) of a row along y: from the first with water to the last. start: of the row in an array.
struct WaterRow {
    int64_t block, x, y0, y1, start;
};

// Rows [first, last) that one thread takes: neighbours along x. [y0, y1) has all of their cells.
struct Strip {
    int64_t first, last, y0, y1;
};

struct WaterRows {
    static constexpr int64_t halo = 3, strip_rows = 16;

    int64_t blocks, nx, ny;
    std::vector<int64_t> extents; // (blocks, 2)
    std::vector<WaterRow> rows;
    std::vector<Strip> strips;

    int64_t size() const { return blocks * nx * ny; }

    WaterRows(int64_t blocks, int64_t nx, int64_t ny, const int64_t *extent, const uint8_t *wet)
        : blocks(blocks), nx(nx), ny(ny), extents(extent, extent + 2 * blocks) {
        for (int64_t b = 0; b < blocks; ++b)
            for (int64_t x = halo; x < halo + extents[2 * b]; ++x) {
                const uint8_t *row = wet + (b * nx + x) * ny;
                int64_t y0 = halo, y1 = halo + extents[2 * b + 1];
                while (y0 < y1 && !row[y0])
                    ++y0;
                while (y1 > y0 && !row[y1 - 1])
                    --y1;
                if (y0 == y1)
                    continue;
                const bool goes_on = !strips.empty() && rows.back().block == b && rows.back().x == x - 1 &&
                                     strips.back().last - strips.back().first < strip_rows;
                const int64_t number = int64_t(rows.size());
                rows.push_back({b, x, y0, y1, (b * nx + x) * ny});
                if (goes_on) {
                    Strip &strip = strips.back();
                    strip = {strip.first, number + 1, std::min(strip.y0, y0), std::max(strip.y1, y1)};
                } else
                    strips.push_back({number, number + 1, y0, y1});
            }
    }

    // body(strip) for all strips, shared among threads.
    template <class Body> void over_strips(const Body &body) const {
        const int64_t count = int64_t(strips.size());
#pragma omp parallel if (count > 1)
        {
            const FlushDenormals flush;
#pragma omp for schedule(static)
            for (int64_t n = 0; n < count; ++n)
                body(strips[n]);
        }
    }

    // body(row, number) for all rows.
    template <class Body> void over_rows(const Body &body) const {
        over_strips([&](const Strip &strip) {
            for (int64_t n = strip.first; n < strip.last; ++n)
                body(rows[n], n);
        });
    }
};

} // namespace fathometer::ocean
