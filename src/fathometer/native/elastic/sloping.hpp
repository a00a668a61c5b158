// Derivatives next to a sea floor that slopes: what a row takes in place of the grid's stencils in the cells around it.
// Scheme, symbols and tables are those of seismic/elastic/floor_strip.py.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "core/simd.hpp"
#include "core/wavefield.hpp"

namespace fathometer::elastic {

constexpr int64_t floor_margin = 3; // columns of depths on each side of a block's own
constexpr int64_t floor_parts = 128, strip_lanes = 16, strip_band = 5;
constexpr int64_t strip_points = 14;                       // with values
constexpr int64_t strip_rows = 14;                         // of derivatives that are not the grid's
constexpr int64_t floor_window = 48, floor_alignment = 16; // cells of a row, at most: whole vectors

// One value for each point of a strip.
template <class T> struct StripLanes {
    static constexpr int64_t n = lanes<T>, parts = strip_lanes / n;
    Vector<T> v[parts]{};

    static StripLanes of(const T *from) {
        StripLanes out;
        for (int64_t p = 0; p < parts; ++p)
            out.v[p] = load(from + p * n);
        return out;
    }
    void to(T *out) const {
        for (int64_t p = 0; p < parts; ++p)
            store(out + p * n, v[p]);
    }
    void add(T a, const StripLanes &b) {
        for (int64_t p = 0; p < parts; ++p)
            v[p] = madd(all_lanes(a), b.v[p], v[p]);
    }
    void add(const StripLanes &a, const StripLanes &b) {
        for (int64_t p = 0; p < parts; ++p)
            v[p] = madd(a.v[p], b.v[p], v[p]);
    }
};

template <class T> class SlopingFloor {
    using Lanes = StripLanes<T>;

  public:
    // Points of a field: along which axes they lie half a cell further.
    enum Points { half_x = 1, half_y = 2, half_z = 4 };

    // Tables as floor_strip.py says.
    const T *weights = nullptr, *inverse = nullptr, *derivative = nullptr;
    T per_cell[3]{};             // 1 / spacing
    T *water = nullptr;          // vz of the water in the floor, of owned columns
    const T *buoyancy = nullptr; // of the water there
    int64_t water_stride = 0;

    // depths: [x][y] below nodes, in cells, of nx * ny columns, a margin on each side of the block's own (none along y
    // in two dimensions).
    void follow(const double *depths, int64_t nx, int64_t ny, bool has_y) {
        stride = ny;
        first = floor_margin * ny + (has_y ? floor_margin : 0);
        for (int kind = 0; kind < (has_y ? 4 : 2); ++kind) {
            const auto at = [&](int64_t i, int64_t j) { return between(depths, kind, i, j, nx, ny); };
            columns[kind].resize(nx * ny);
            for (int axis = 0; axis < 2; ++axis)
                falls[axis][kind].resize(nx * ny);
            for (int64_t i = 0; i < nx; ++i)
                for (int64_t j = 0; j < ny; ++j) {
                    const int64_t place = std::llrint(at(i, j) * floor_parts), part = place & (floor_parts - 1);
                    columns[kind][i * ny + j] = {int32_t((place - part) / floor_parts), int32_t(part)};
                    falls[0][kind][i * ny + j] = T(at(i + 1, j) - at(i, j));
                    falls[1][kind][i * ny + j] = T(at(i, j + 1) - at(i, j));
                }
        }
    }

    // The cells of a row in which derivatives differ.
    struct Window {
        int64_t first, last;
    };
    Window window(int64_t i, int64_t j, int64_t cells, bool has_y) const {
        int64_t low = cells, high = 0;
        for (int kind = 0; kind < (has_y ? 4 : 2); ++kind) {
            const int64_t row = column(kind, i, j).row;
            low = std::min(low, row);
            high = std::max(high, row);
        }
        return {(low - strip_rows) & -floor_alignment,
                std::min((high + 1 + strip_rows + floor_alignment) & -floor_alignment, cells)};
    }

    // Of what columns have one of.
    int64_t column_at(int64_t i, int64_t j) const { return i * water_stride + j; }

    // The row of the last node above the floor, of points of a column.
    int64_t row(int kind, int64_t i, int64_t j) const { return column(kind & 3, i, j).row; }

    // Replace derivatives along an axis, of a field whose points are `source`, in a row: `out` begins at window.first
    // and holds the grid's. Returns that of the water in the floor, where points of the water lie there.
    T derive(const Wavefield<T> &w, const T *field, int source, int axis, int64_t i, int64_t j, const Window &window,
             T *out) const {
        const int target = source ^ 1 << axis;
        const Column at = column(target & 3, i, j);
        const bool half = target & half_z, known = has(source) && has(target);
        alignas(64) T some[strip_lanes]{};
        if (known)
            side<false>(w, field, source, axis, i, j, at, some);
        const T in_floor = some[strip_lanes - 1] * half;
        for (int64_t l = strip_lanes - strip_rows; l < strip_lanes; ++l)
            out[at.row - strip_lanes + 1 + l - window.first] = some[l];
        side<true>(w, field, source, axis, i, j, at, some);
        for (int64_t l = 0; l < strip_rows; ++l)
            out[at.row + !half + l - window.first] = some[l];
        return in_floor;
    }

  private:
    struct Column {
        int32_t row, part;
    };
    std::vector<Column> columns[4]; // [kind], with the margin
    std::vector<T> falls[2][4];     // [axis][kind]: how much the floor falls to the next column, in cells
    int64_t stride = 0, first = 0;  // of these along x; of owned column (0, 0)

    static bool has(int kind) { return (kind & (kind - 1)) == 0; } // whether water has such a field
    static bool stress(int kind) { return kind == 0 || !has(kind); }
    static constexpr T edge[3] = {T(1.875), T(-1.25), T(0.375)};
    static constexpr T difference[4] = {T(1.0 / 24), T(-9.0 / 8), T(9.0 / 8), T(-1.0 / 24)};
    static constexpr T mean[4] = {T(-1.0 / 16), T(9.0 / 16), T(9.0 / 16), T(-1.0 / 16)};

    // Depth of a column half way between nodes along the axes of a kind; beyond the margin it goes on level.
    static double between(const double *depths, int kind, int64_t i, int64_t j, int64_t nx, int64_t ny) {
        const int64_t across = kind & half_x ? 1 : 0, along = kind & half_y ? 1 : 0;
        double sum = 0;
        for (int64_t a = 0; a <= across; ++a)
            for (int64_t b = 0; b <= along; ++b)
                sum += depths[std::min(i + a, nx - 1) * ny + std::min(j + b, ny - 1)];
        return sum / double((1 + across) * (1 + along));
    }
    const Column &column(int kind, int64_t i, int64_t j) const { return columns[kind & 3][first + i * stride + j]; }
    T slope(int kind, int axis, int64_t i, int64_t j) const { return falls[axis][kind & 3][first + i * stride + j]; }

    // Where the rows of the lanes begin.
    template <bool Rock> static int64_t begin(const Column &c, int kind) {
        return Rock ? c.row + !(kind & half_z) : c.row - strip_lanes + 1;
    }
    template <bool Rock> static bool weighted(int kind) { return Rock == stress(kind); }
    template <bool Rock> static int64_t variant(int kind) {
        return (Rock * 2 + (kind & half_z ? 1 : 0)) * 2 + weighted<Rock>(kind);
    }
    template <bool Rock> const T *table(int kind, int64_t part, int number) const {
        return weights + ((variant<Rock>(kind) * floor_parts + part) * 4 + number) * strip_band * strip_lanes;
    }
    template <bool Rock> const T *inverse_of(int kind, int64_t part) const {
        return inverse + (variant<Rock>(kind) * floor_parts + part) * strip_lanes;
    }

    // from: two points before the first lane.
    static Lanes banded(const T *weight, const T *from) {
        Lanes sum;
        for (int64_t b = 0; b < strip_band; ++b)
            sum.add(Lanes::of(weight + b * strip_lanes), Lanes::of(from + b));
        return sum;
    }

    // What a column has in the strip and at the grid's depths; the latter four lanes further on both sides.
    struct Gathered {
        alignas(64) T strip[strip_lanes];
        alignas(64) T grid[strip_lanes + 8];
    };
    template <bool Rock> void gather(const T *f, int kind, int64_t i, int64_t j, const Column &c, Gathered &to) const {
        const T *from = f + begin<Rock>(c, kind);
        T copied[strip_lanes + 4];
        const T *points = from - 2;
        if (!Rock && kind == half_z) { // in the floor the field holds what is the rock's
            std::memcpy(copied, points, sizeof copied);
            copied[strip_lanes + 1] = water[column_at(i, j)];
            points = copied;
        }
        const T *to_strip = table<Rock>(kind, c.part, 0), *to_grid = table<Rock>(kind, c.part, 1);
        Lanes strip, grid;
        for (int64_t b = 0; b < strip_band; ++b) {
            const Lanes some = Lanes::of(points + b);
            strip.add(Lanes::of(to_strip + b * strip_lanes), some);
            grid.add(Lanes::of(to_grid + b * strip_lanes), some);
        }
        strip.to(to.strip);
        grid.to(to.grid + 4);
        for (int64_t n = 0; n < 4; ++n) {
            to.grid[n] = Rock ? 0 : from[n - 4];
            to.grid[strip_lanes + 4 + n] = Rock ? from[strip_lanes + n] : 0;
        }
    }

    // Adds the product of one of the derivatives along the strip with a column of it.
    template <bool Rock> void multiply(int number, bool transposed, const T *column, Lanes &sum) const {
        const T *matrix = derivative + ((Rock * 4 + number) * 2 + transposed) * strip_lanes * strip_lanes;
        for (int64_t m = Rock ? 0 : strip_lanes - strip_points; m < (Rock ? strip_points : strip_lanes); ++m)
            sum.add(column[m], Lanes::of(matrix + m * strip_lanes));
    }

    // The value in the floor of points at nodes.
    template <bool Rock> static T in_floor(const T *f, const Column &c) {
        const T *near = f + c.row + Rock;
        constexpr int step = Rock ? 1 : -1;
        return madd(edge[0], near[0], madd(edge[1], near[step], edge[2] * near[2 * step]));
    }

    template <bool Rock>
    void side(const Wavefield<T> &w, const T *field, int source, int axis, int64_t i, int64_t j, const Column &at,
              T *out) const {
        const int target = source ^ 1 << axis;
        const bool transposed = !weighted<Rock>(target);
        Lanes sum;
        alignas(64) T grid[strip_lanes + 4]{};
        if (axis == 2)
            along_z<Rock>(w, field, source, i, j, at, transposed, sum, grid + 2);
        else
            across<Rock>(w, field, source, axis, i, j, at, transposed, sum, grid + 2);
        alignas(64) T strip[strip_lanes + 4]{};
        sum.to(strip + 2);
        Lanes total = banded(table<Rock>(target, at.part, 2), strip);
        const T *scatter = table<Rock>(target, at.part, 3);
        for (int64_t b = 0; b < strip_band; ++b)
            total.add(Lanes::of(scatter + b * strip_lanes), Lanes::of(grid + b));
        total.to(out);
        join<Rock>(w, field, source, axis, i, j, at, out);
        for (int64_t l = 0; l < strip_lanes; ++l)
            out[l] *= per_cell[axis];
    }

    template <bool Rock>
    void along_z(const Wavefield<T> &w, const T *field, int source, int64_t i, int64_t j, const Column &at,
                 bool transposed, Lanes &sum, T *grid) const {
        Gathered one;
        gather<Rock>(field + w.at(i, j), source, i, j, at, one);
        const bool half = !(source & half_z); // of the target
        multiply<Rock>(half, transposed, one.strip, sum);
        const int64_t ahead = (half ? -1 : -2) + begin<Rock>(at, source ^ half_z) - begin<Rock>(at, source);
        Lanes total;
        for (int64_t n = 0; n < 4; ++n)
            total.add(difference[n], Lanes::of(one.grid + 4 + ahead + n));
        total.to(grid);
    }

    template <bool Rock>
    void across(const Wavefield<T> &w, const T *field, int source, int axis, int64_t i, int64_t j, const Column &at,
                bool transposed, Lanes &sum, T *grid) const {
        const bool half = !(source & 1 << axis); // of the target along the axis
        const T own = half ? slope(source, axis, i, j) : T(0);
        Lanes total, inclined;
        for (int64_t n = 0; n < 4; ++n) {
            const int64_t step = n - (half ? 1 : 2), ci = i + (axis == 0 ? step : 0), cj = j + (axis == 1 ? step : 0);
            const Column c = column(source & 3, ci, cj);
            Gathered one;
            gather<Rock>(field + w.at(ci, cj), source, ci, cj, c, one);
            const T fall = half ? own : slope(source ^ 1 << axis, axis, ci, cj);
            const Lanes strip = Lanes::of(one.strip);
            sum.add(difference[n], strip);
            inclined.add(mean[n] * fall, strip);
            total.add(difference[n], Lanes::of(one.grid + 4 + at.row - c.row));
        }
        alignas(64) T column_of_it[strip_lanes];
        inclined.to(column_of_it);
        multiply<Rock>(source & half_z ? 3 : 2, transposed, column_of_it, sum);
        total.to(grid);
    }

    // What the sides do to each other: the rock's motion across the floor to the water, its pressure to the rock.
    template <bool Rock>
    void join(const Wavefield<T> &w, const T *field, int source, int axis, int64_t i, int64_t j, const Column &at,
              T *out) const {
        const int target = source ^ 1 << axis;
        const T *inverse = inverse_of<Rock>(target, at.part);
        if (!Rock && target == 0) {
            const T flux = axis == 2 ? field[w.at(i, j) + at.row] : -inclined_mean<true>(w, field, axis, 2, i, j);
            for (int64_t m = 0; m < 3; ++m) {
                const int64_t l = strip_lanes - 1 - m;
                out[l] = madd(edge[m] * inverse[l], flux, out[l]);
            }
        } else if (Rock && source == 0 && axis == 2) {
            out[0] = madd(-inverse[0], in_floor<false>(field + w.at(i, j), at), out[0]);
        } else if (Rock && source == 0) {
            const T traction = inclined_mean<false>(w, field, axis, 1, i, j);
            for (int64_t m = 0; m < 3; ++m)
                out[m] = madd(edge[m] * inverse[m], traction, out[m]);
        }
    }

    // Of values in the floor times its fall along an axis, half way between four columns: of velocities along the axis
    // of the rock, at nodes; or of the water's stress, at half points. before: columns that begin before this one.
    template <bool OfRock>
    T inclined_mean(const Wavefield<T> &w, const T *field, int axis, int64_t before, int64_t i, int64_t j) const {
        const int kind = OfRock ? 1 << axis : 0;
        T sum = 0;
        for (int64_t n = 0; n < 4; ++n) {
            const int64_t ci = i + (axis == 0 ? n - before : 0), cj = j + (axis == 1 ? n - before : 0);
            const T fall = OfRock ? slope(0, axis, ci, cj) : slope(0, axis, i, j);
            sum = madd(mean[n] * fall, in_floor<OfRock>(field + w.at(ci, cj), column(kind, ci, cj)), sum);
        }
        return sum;
    }
};

} // namespace fathometer::elastic
