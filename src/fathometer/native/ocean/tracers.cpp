#include "tracers.hpp"

#include "core/denormals.hpp"
#include "passes.hpp"
#include "vertical.hpp"

namespace fathometer::ocean {

namespace {

constexpr int64_t reach = 2, kept = 5; // columns that a pass reads on each side; rows that are kept for it

// The tracers of a tile; a thread has one of these. Rows have `length` columns, the first one `reach` before the tile.
class TileStep {
  public:
    TileStep(const Grid &g, const Numbers &m, const TracerStep &s, int64_t longest)
        : grid(g), numbers(m), step(s), nz(g.nz), count(s.tracers), length(longest + 2 * reach), stride(padded(g.nz)),
          passes(g, s.dt, count), vertical(g, m, s.dt, count), thickness(kept * length * nz),
          passed(kept * length * nz), values(kept * count * length * nz), east(2 * length * count * nz),
          north(2 * count * nz) {
        columns.thickness.resize(width * stride);
        columns.out.resize(width * stride);
        columns.value.resize(count * width * stride);
        columns.added.resize(count * width * stride);
    }

    void advance(const Tile &of) {
        tile = of;
        first = tile.y0 - reach;
        const auto done = [](int64_t) {};
        const auto last_target = [&](int64_t x) { return [this, x](int64_t y) { return open_column(x, y); }; };
        const auto last_done = [&](int64_t x) { return [this, x](int64_t y) { close_column(x, y); }; };
        const auto into_row = [&](int64_t x) { return [this, x](int64_t y) { return row_target(x, y); }; };
        if (step.x_first) {
            const auto rows = [&](int64_t x) { return before(x); };
            put_thickness(tile.x0 - 1);
            put_thickness(tile.x0);
            begin_x(rows, tile.y0 - reach, tile.y1 + reach);
            for (int64_t x = tile.x0; x < tile.x1; ++x) {
                put_thickness(x + 1);
                pass_x(rows, x, tile.y0 - reach, tile.y1 + reach, into_row(x), done);
                pass_y(between(x), x, last_target(x), last_done(x));
            }
        } else {
            const auto rows = [&](int64_t x) { return between(x); };
            const auto prepare = [&](int64_t x) {
                put_thickness(x);
                pass_y(before(x), x, into_row(x), done);
            };
            for (int64_t x = tile.x0 - reach; x < tile.x0 + reach; ++x)
                prepare(x);
            begin_x(rows, tile.y0, tile.y1);
            for (int64_t x = tile.x0; x < tile.x1; ++x) {
                prepare(x + reach);
                pass_x(rows, x, tile.y0, tile.y1, last_target(x), last_done(x));
            }
        }
    }

  private:
    double area(int64_t y) const { return grid.dx[tile.block * grid.ny + y] * grid.dy; }
    int64_t column(int64_t x, int64_t y) const { return grid.column(tile.block, x, y); }
    double *thickness_of(int64_t x) { return thickness.data() + x % kept * length * nz; }
    double *passed_of(int64_t x) { return passed.data() + x % kept * length * nz; }
    double *values_of(int64_t x) { return values.data() + x % kept * count * length * nz; }
    double *east_of(int64_t x, int64_t y) { return east.data() + ((x & 1) * length + (y - first)) * count * nz; }

    // Before the step, with put_thickness; after its first pass.
    Row before(int64_t x) {
        const int64_t at = column(x, first);
        return {step.value + at * nz, grid.cells(), thickness_of(x), grid.levels.data() + at};
    }
    Row between(int64_t x) { return {values_of(x), length * nz, passed_of(x), grid.levels.data() + column(x, first)}; }
    Target row_target(int64_t x, int64_t y) {
        const int64_t at = (y - first) * nz;
        return {values_of(x) + at, length * nz, passed_of(x) + at};
    }

    void put_thickness(int64_t x) {
        double *h = thickness_of(x);
        for (int64_t y = first; y < tile.y1 + reach; ++y, h += nz)
            if (const int64_t at = column(x, y); grid.levels[at] > 0) {
                std::copy_n(grid.thickness.data(), grid.levels[at], h);
                h[0] += step.eta[at];
            }
    }

    // The faces between rows x0 - 1 and x0.
    template <class Rows> void begin_x(Rows rows, int64_t y0, int64_t y1) {
        const int64_t x = tile.x0 - 1;
        const Row four[4] = {rows(x - 1), rows(x), rows(x + 1), rows(x + 2)};
        for (int64_t y = y0; y < y1; ++y)
            east_face(four, x, y);
    }

    void east_face(const Row four[4], int64_t x, int64_t y) {
        const int64_t j = y - first, at[4] = {j, j, j, j};
        passes.face(four, at, step.flux_x + column(x, y) * nz, area(y), area(y), east_of(x, y));
    }

    // Row x; the amounts through its western faces are there.
    template <class Rows, class To, class Done>
    void pass_x(Rows rows, int64_t x, int64_t y0, int64_t y1, To to, Done done) {
        const Row four[4] = {rows(x - 1), rows(x), rows(x + 1), rows(x + 2)};
        for (int64_t y = y0; y < y1; ++y) {
            east_face(four, x, y);
            if (four[1].levels[y - first] > 0)
                passes.column(four[1], y - first, step.flux_x + column(x - 1, y) * nz, step.flux_x + column(x, y) * nz,
                              east_of(x - 1, y), east_of(x, y), area(y), to(y));
            done(y);
        }
    }

    template <class To, class Done> void pass_y(const Row &row, int64_t x, To to, Done done) {
        const Row four[4] = {row, row, row, row};
        for (int64_t y = tile.y0 - 1; y < tile.y1; ++y) {
            const int64_t j = y - first, at[4] = {j - 1, j, j + 1, j + 2};
            double *amounts = north.data() + (y & 1) * count * nz;
            passes.face(four, at, step.flux_y + column(x, y) * nz, area(y), area(y + 1), amounts);
            if (y < tile.y0)
                continue;
            if (row.levels[j] > 0)
                passes.column(row, j, step.flux_y + column(x, y - 1) * nz, step.flux_y + column(x, y) * nz,
                              north.data() + ((y - 1) & 1) * count * nz, amounts, area(y), to(y));
            done(y);
        }
    }

    // Columns after both passes gather until a vector of them is full.
    Target open_column(int64_t, int64_t y) {
        const int64_t lane = (y - tile.y0) % width;
        return {columns.value.data() + lane * stride, width * stride, columns.thickness.data() + lane * stride};
    }

    void close_column(int64_t x, int64_t y) {
        const int64_t lane = (y - tile.y0) % width, at = column(x, y), n = grid.levels[at];
        columns.levels[lane] = n;
        columns.ratio[lane] = step.dt / area(y);
        columns.surface[lane] = n ? step.eta_next[at] : 0.0;
        double *out = columns.out.data() + lane * stride, *added = columns.added.data() + lane * stride;
        const double *to_east = step.flux_x + at * nz, *from_west = to_east - grid.ny * nz;
        const double *to_north = step.flux_y + at * nz, *from_south = to_north - nz;
#pragma omp simd
        for (int64_t k = 0; k < n; ++k)
            out[k] = (to_east[k] - from_west[k]) + (to_north[k] - from_south[k]);
        std::fill(out + n, out + stride, 0.0);
        for (int64_t t = 0; t < count; ++t) {
            std::fill_n(added + t * width * stride, stride, 0.0);
            double *value = columns.value.data() + (t * width + lane) * stride;
            std::fill(value + n, value + stride, 0.0);
            if (n)
                added[t * width * stride] = step.dt * step.surface_flux[t * grid.columns() + at];
        }
        if (n && numbers.diffusivity > 0)
            passes.diffusion(numbers.diffusivity, step.value, step.eta, tile.block, x, y, added, width * stride);
        if (lane == width - 1 || y == tile.y1 - 1)
            finish_columns(x, y - lane, lane + 1);
    }

    void finish_columns(int64_t x, int64_t y0, int64_t lanes_used) {
        for (int64_t lane = lanes_used; lane < width; ++lane) {
            columns.levels[lane] = 0;
            columns.ratio[lane] = columns.surface[lane] = 0;
        }
        vertical.advance(columns);
        for (int64_t lane = 0; lane < lanes_used; ++lane)
            for (int64_t t = 0; t < count; ++t)
                std::copy_n(columns.value.data() + (t * width + lane) * stride, columns.levels[lane],
                            step.next + t * grid.cells() + column(x, y0 + lane) * nz);
    }

    const Grid &grid;
    const Numbers &numbers;
    const TracerStep &step;
    int64_t nz, count, length, stride;
    FlushDenormals flush;
    Passes passes;
    Vertical vertical;
    TracerColumns columns;
    Tile tile{};
    int64_t first = 0;
    std::vector<double> thickness, passed, values, east, north;
};

} // namespace

void tracers(const Grid &grid, const Numbers &numbers, const TracerStep &step) {
    int64_t longest = 0;
    for (const Tile &tile : grid.tiles)
        longest = std::max(longest, tile.y1 - tile.y0);
    over_tiles(
        grid, [&] { return TileStep(grid, numbers, step, longest); },
        [](const Tile &tile, TileStep &tracers) { tracers.advance(tile); });
}

void surface_flux(const Grid &grid, int64_t tracers, const double *value, const double *given, const double *target,
                  const double *rate, double *flux) {
    over_tiles(
        grid, [] { return 0; },
        [&](const Tile &tile, int) {
            for (int64_t t = 0; t < tracers; ++t)
                for (int64_t x = tile.x0; x < tile.x1; ++x)
                    for (int64_t y = tile.y0; y < tile.y1; ++y) {
                        const int64_t column = grid.column(tile.block, x, y), at = t * grid.columns() + column;
                        const double speed = rate[t] * grid.thickness[0];
                        const double here = value[t * grid.cells() + column * grid.nz];
                        flux[at] = grid.levels[column] ? given[at] + speed * (target[at] - here) : 0.0;
                    }
        });
}

} // namespace fathometer::ocean
