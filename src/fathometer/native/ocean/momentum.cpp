#include "momentum.hpp"

#include <cmath>

#include "advection_u.hpp"
#include "columns.hpp"
#include "core/denormals.hpp"
#include "friction.hpp"

namespace fathometer::ocean {

namespace {

// Of a thread. Columns are padded to whole vectors, and are zero below the bottom.
struct Scratch {
    FlushDenormals flush;
    int64_t stride;
    std::vector<double> work, advection_u, advection_v, friction_u, friction_v, u, v;
    Friction friction;

    explicit Scratch(int64_t nz)
        : stride(padded(nz)), work(5 * nz + 1), advection_u(nz), advection_v(nz), friction_u(nz), friction_v(nz),
          u(width * stride), v(width * stride), friction(stride) {}
};

struct Gradient {
    double x, y; // 1 / (2 dx), 1 / (2 dy)
    Gradient(const Grid &grid, int64_t row) : x(0.5 / grid.dx_u[row]), y(0.5 / grid.dy) {}
};

// The right-hand side of a column without wind: into scratch.u and scratch.v from `at` on.
void explicit_part(const Grid &grid, const Numbers &numbers, const MomentumStep &step, int64_t block, int64_t x,
                   int64_t y, Scratch &scratch, double *right_u, double *right_v) {
    const int64_t nz = grid.nz, column = grid.column(block, x, y), n = grid.levels_u[column];
    const int64_t first = column * nz, dx = grid.ny * nz, dy = nz;
    const double dt = step.dt, turn = 0.5 * grid.f[block * grid.ny + y] * dt;
    double *advection_u = scratch.advection_u.data(), *advection_v = scratch.advection_v.data();
    double *friction_u = scratch.friction_u.data(), *friction_v = scratch.friction_v.data();
    if (numbers.advect_momentum) {
        double *gu = step.tendency_u[0] + first, *gv = step.tendency_v[0] + first;
        momentum_tendency(grid, step.u, step.v, step.eta, block, x, y, scratch.work.data(), gu, gv);
        const double *hu = step.tendency_u[1] + first, *hv = step.tendency_v[1] + first;
        const double *iu = step.tendency_u[2] + first, *iv = step.tendency_v[2] + first;
        const auto [c0, c1, c2] = step.weights;
#pragma omp simd
        for (int64_t k = 0; k < n; ++k) {
            advection_u[k] = c0 * gu[k] + (c1 * hu[k] + c2 * iu[k]);
            advection_v[k] = c0 * gv[k] + (c1 * hv[k] + c2 * iv[k]);
        }
    }
    if (numbers.viscosity > 0)
        lateral_friction(grid, numbers.viscosity, step.u, step.v, block, x, y, friction_u, friction_v);
    const Gradient half(grid, block * grid.ny + y);
    const double *e = step.eta + column;
    const double e00 = e[0], e01 = e[1], e10 = e[grid.ny], e11 = e[grid.ny + 1];
    const double slope_x = numbers.gravity * (half.x * ((e10 - e00) + (e11 - e01)));
    const double slope_y = numbers.gravity * (half.y * ((e01 - e00) + (e11 - e10)));
    const double *p = step.p + first, *u = step.u + first, *v = step.v + first;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
        const double p00 = p[k], p01 = p[k + dy], p10 = p[k + dx], p11 = p[k + dx + dy];
        const double force_x = half.x * ((p10 - p00) + (p11 - p01)) + slope_x;
        const double force_y = half.y * ((p01 - p00) + (p11 - p10)) + slope_y;
        right_u[k] = (u[k] + turn * v[k]) + dt * ((advection_u[k] + friction_u[k]) - force_x);
        right_v[k] = (v[k] - turn * u[k]) + dt * ((advection_v[k] + friction_v[k]) - force_y);
    }
}

} // namespace

void momentum(const Grid &grid, const Numbers &numbers, const MomentumStep &step) {
    const int64_t nz = grid.nz;
    over_tiles(
        grid, [&] { return Scratch(nz); },
        [&](const Tile &tile, Scratch &scratch) {
            const int64_t stride = scratch.stride;
            for (int64_t x = tile.x0; x < tile.x1; ++x)
                for (int64_t y = tile.y0; y < tile.y1; y += width) {
                    FrictionColumns columns{};
                    const int64_t count = std::min<int64_t>(width, tile.y1 - y);
                    double depth[width] = {}, before_u[width] = {}, before_v[width] = {};
                    for (int64_t l = 0; l < count; ++l) {
                        const int64_t column = grid.column(tile.block, x, y + l), n = grid.levels_u[column];
                        columns.levels[l] = n;
                        double *right_u = scratch.u.data() + l * stride, *right_v = scratch.v.data() + l * stride;
                        std::fill(right_u + n, right_u + stride, 0.0);
                        std::fill(right_v + n, right_v + stride, 0.0);
                        columns.top[l] = grid.thickness[0];
                        if (n == 0)
                            continue;
                        explicit_part(grid, numbers, step, tile.block, x, y + l, scratch, right_u, right_v);
                        const double *u = step.u + column * nz, *v = step.v + column * nz;
                        const double top = grid.top_u(step.eta, column), more = top - grid.thickness[0];
                        columns.top[l] = top;
                        columns.turn[l] = 0.5 * grid.f[tile.block * grid.ny + y + l] * step.dt;
                        columns.wind_u[l] = step.dt * step.stress_x[column] / numbers.density;
                        columns.wind_v[l] = step.dt * step.stress_y[column] / numbers.density;
                        if (numbers.drag == Drag::linear)
                            columns.drag[l] = step.dt * numbers.drag_coefficient;
                        else if (numbers.drag == Drag::quadratic)
                            columns.drag[l] = step.dt * numbers.drag_coefficient *
                                              std::sqrt(u[n - 1] * u[n - 1] + v[n - 1] * v[n - 1]);
                        depth[l] = grid.bottoms[n] + more;
                        before_u[l] = sum_of_products(grid.thickness.data(), u, n) + more * u[0];
                        before_v[l] = sum_of_products(grid.thickness.data(), v, n) + more * v[0];
                    }
                    for (int64_t l = count; l < width; ++l) {
                        columns.top[l] = grid.thickness[0];
                        std::fill_n(scratch.u.data() + l * stride, stride, 0.0);
                        std::fill_n(scratch.v.data() + l * stride, stride, 0.0);
                    }
                    scratch.friction.solve(grid, step.dt * numbers.vertical_viscosity, columns, scratch.u.data(),
                                           scratch.v.data());
                    for (int64_t l = 0; l < count; ++l) {
                        const int64_t column = grid.column(tile.block, x, y + l), n = columns.levels[l];
                        if (n == 0)
                            continue;
                        std::copy_n(scratch.u.data() + l * stride, n, step.u_next + column * nz);
                        std::copy_n(scratch.v.data() + l * stride, n, step.v_next + column * nz);
                        const double other = 1 - step.theta, after_u = columns.sum_u[l], after_v = columns.sum_v[l];
                        step.transport_u[column] = step.theta * after_u + other * before_u[l];
                        step.transport_v[column] = step.theta * after_v + other * before_v[l];
                        step.shift_u[column] = other * ((before_u[l] - after_u) / depth[l]);
                        step.shift_v[column] = other * ((before_v[l] - after_v) / depth[l]);
                    }
                }
        });
}

void correct(const Grid &grid, const Numbers &numbers, double dt, double theta, const double *d, double *u, double *v,
             double *shift_u, double *shift_v) {
    const double factor = dt * theta * numbers.gravity, other = 1 - theta;
    over_tiles(
        grid, [] { return FlushDenormals(); },
        [&](const Tile &tile, const FlushDenormals &) {
            for (int64_t x = tile.x0; x < tile.x1; ++x)
                for (int64_t y = tile.y0; y < tile.y1; ++y) {
                    const int64_t column = grid.column(tile.block, x, y), n = grid.levels_u[column];
                    if (n == 0)
                        continue;
                    const Gradient half(grid, tile.block * grid.ny + y);
                    const double *e = d + column;
                    const double e00 = e[0], e01 = e[1], e10 = e[grid.ny], e11 = e[grid.ny + 1];
                    const double change_u = factor * (half.x * ((e10 - e00) + (e11 - e01)));
                    const double change_v = factor * (half.y * ((e01 - e00) + (e11 - e10)));
                    double *to_u = u + column * grid.nz, *to_v = v + column * grid.nz;
#pragma omp simd
                    for (int64_t k = 0; k < n; ++k) {
                        to_u[k] -= change_u;
                        to_v[k] -= change_v;
                    }
                    shift_u[column] += other * change_u;
                    shift_v[column] += other * change_v;
                }
        });
}

} // namespace fathometer::ocean
