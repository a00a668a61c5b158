#include "fluxes.hpp"

#include "columns.hpp"
#include "core/denormals.hpp"

namespace fathometer::ocean {

namespace {

// result = factor (h_a (a + shift_a) + h_b (b + shift_b)) on the wet levels of two U points, 0 below.
void add_points(const Grid &grid, double factor, const double *velocity, const double *shift, const double *eta,
                int64_t a, int64_t b, double *result) {
    const int64_t nz = grid.nz, n_a = grid.levels_u[a], n_b = grid.levels_u[b];
    const double *p = velocity + a * nz, *q = velocity + b * nz, *dz = grid.thickness.data();
    const double s = shift[a], t = shift[b];
    const int64_t both = std::min(n_a, n_b), deepest = std::max(n_a, n_b);
#pragma omp simd
    for (int64_t k = 0; k < both; ++k)
        result[k] = factor * (dz[k] * ((p[k] + s) + (q[k] + t)));
    const double *only = n_a > n_b ? p : q, move = n_a > n_b ? s : t;
#pragma omp simd
    for (int64_t k = both; k < deepest; ++k)
        result[k] = factor * (dz[k] * (only[k] + move));
    std::fill(result + deepest, result + nz, 0.0);
    if (deepest == 0)
        return;
    const double first = n_a ? grid.top_u(eta, a) * (p[0] + s) : 0.0;
    const double second = n_b ? grid.top_u(eta, b) * (q[0] + t) : 0.0;
    result[0] = factor * (first + second);
}

double sum_of(const double *values, int64_t n) {
    double part[8] = {};
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        for (int l = 0; l < 8; ++l)
            part[l] += values[k + l];
    for (int l = 0; k < n; ++k, ++l)
        part[l] += values[k];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

} // namespace

void volume_fluxes(const Grid &grid, double dt, const Transport &t) {
    const int64_t nz = grid.nz;
    over_tiles(
        grid, [] { return FlushDenormals(); },
        [&](const Tile &tile, const FlushDenormals &) {
            const int64_t x_begin = tile.x0 - 2 * tile.first_x, x_end = tile.x1 + 2 * tile.last_x;
            const int64_t y_begin = tile.y0 - 2 * tile.first_y, y_end = tile.y1 + 2 * tile.last_y;
            for (int64_t x = x_begin; x < x_end; ++x)
                for (int64_t y = y_begin; y < y_end; ++y) {
                    const int64_t column = grid.column(tile.block, x, y);
                    add_points(grid, 0.5 * grid.dy, t.u, t.shift_u, t.eta, column, column - 1, t.flux_x + column * nz);
                    const double half = 0.5 * grid.dx_u[tile.block * grid.ny + y];
                    add_points(grid, half, t.v, t.shift_v, t.eta, column, column - grid.ny, t.flux_y + column * nz);
                }
        });
    over_tiles(
        grid, [] { return FlushDenormals(); },
        [&](const Tile &tile, const FlushDenormals &) {
            for (int64_t x = tile.x0; x < tile.x1; ++x)
                for (int64_t y = tile.y0; y < tile.y1; ++y) {
                    const int64_t column = grid.column(tile.block, x, y), n = grid.levels[column];
                    const double *east = t.flux_x + column * nz, *west = east - grid.ny * nz;
                    const double *north = t.flux_y + column * nz, *south = north - nz;
                    const double out = (sum_of(east, n) - sum_of(west, n)) + (sum_of(north, n) - sum_of(south, n));
                    const double area = grid.dx[tile.block * grid.ny + y] * grid.dy;
                    t.eta_next[column] = n ? t.eta[column] - dt / area * out : 0.0;
                }
        });
}

Courant courant(const Grid &grid, double dt, const double *flux_x, const double *flux_y, const double *eta) {
    const int64_t nz = grid.nz;
    double lateral = 0, vertical = 0;
    int64_t unfinite = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : lateral, vertical) reduction(+ : unfinite)
    for (int64_t m = 0; m < int64_t(grid.tiles.size()); ++m) {
        const Tile &tile = grid.tiles[m];
        std::vector<double> thickness = grid.thickness, leaves(nz), up(nz + 1);
        double *h = thickness.data(), *out = leaves.data(), *w = up.data();
        for (int64_t x = tile.x0; x < tile.x1; ++x)
            for (int64_t y = tile.y0; y < tile.y1; ++y) {
                const int64_t column = grid.column(tile.block, x, y), n = grid.levels[column];
                if (n == 0)
                    continue;
                const double *east = flux_x + column * nz, *west = east - grid.ny * nz;
                const double *north = flux_y + column * nz, *south = north - nz;
                const double ratio = dt / (grid.dx[tile.block * grid.ny + y] * grid.dy);
#pragma omp simd
                for (int64_t k = 0; k < n; ++k)
                    out[k] = (east[k] - west[k]) + (north[k] - south[k]);
                w[n] = 0;
                for (int64_t k = n - 1; k > 0; --k)
                    w[k] = w[k + 1] - out[k];
                w[0] = 0; // through the surface nothing moves
                h[0] = grid.thickness[0] + eta[column];
                double most_lateral = 0, most_vertical = 0;
                int64_t bad = 0;
#pragma omp simd reduction(max : most_lateral, most_vertical) reduction(+ : bad)
                for (int64_t k = 0; k < n; ++k) {
                    const double part = ratio / h[k];
                    const double a = (east[k] > 0 ? east[k] : 0) + (west[k] < 0 ? -west[k] : 0);
                    const double b = (north[k] > 0 ? north[k] : 0) + (south[k] < 0 ? -south[k] : 0), c = a > b ? a : b;
                    const double through = (w[k] > 0 ? w[k] : 0) + (w[k + 1] < 0 ? -w[k + 1] : 0);
                    const double all = (out[k] + w[k]) * part;
                    bad += all - all == 0 ? 0 : 1; // neither infinite nor NaN
                    most_lateral = c * part > most_lateral ? c * part : most_lateral;
                    most_vertical = through * part > most_vertical ? through * part : most_vertical;
                }
                lateral = std::max(lateral, most_lateral);
                vertical = std::max(vertical, most_vertical);
                unfinite += bad;
            }
    }
    return {lateral, vertical, unfinite == 0};
}

} // namespace fathometer::ocean
