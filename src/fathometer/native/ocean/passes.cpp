#include "passes.hpp"

#include "advection.hpp"

namespace fathometer::ocean {

Passes::Passes(const Grid &g, double step, int64_t count)
    : grid(g), dt(step), tracers(count), moved(g.nz), part(g.nz), upstream(g.nz) {}

void Passes::face(const Row rows[4], const int64_t at[4], const double *flux, double area_left, double area_right,
                  double *amounts) {
    const int64_t nz = grid.nz;
    const int64_t n_far_left = rows[0].levels[at[0]], n_left = rows[1].levels[at[1]], n_right = rows[2].levels[at[2]],
                  n_far_right = rows[3].levels[at[3]];
    const int64_t n = std::min(n_left, n_right);
    const double ratio_left = dt / area_left, ratio_right = dt / area_right;
    const double *h_left = rows[1].thickness + at[1] * nz, *h_right = rows[2].thickness + at[2] * nz;
    double *m = moved.data(), *c = part.data(), *h = upstream.data();
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
        const double f = flux[k], left = h_left[k], right = h_right[k];
        const bool along = f > 0;
        h[k] = along ? left : right;
        m[k] = along ? f * ratio_left : -f * ratio_right;
        c[k] = m[k] / h[k];
    }
    for (int64_t t = 0; t < tracers; ++t) {
        const double *far_left = rows[0].value + t * rows[0].next_tracer + at[0] * nz;
        const double *left = rows[1].value + t * rows[1].next_tracer + at[1] * nz;
        const double *right = rows[2].value + t * rows[2].next_tracer + at[2] * nz;
        const double *far_right = rows[3].value + t * rows[3].next_tracer + at[3] * nz;
        double *amount = amounts + t * nz;
#pragma omp simd
        for (int64_t k = 0; k < n; ++k) {
            const double a = far_left[k], b = left[k], d = right[k], e = far_right[k];
            const double before = k < n_far_left ? a : b, behind = k < n_far_right ? e : d;
            const bool along = flux[k] > 0;
            const double up = along ? b : d, down = along ? d : b, far = along ? before : behind;
            const double through = limited_part(m[k], h[k], c[k], up, down, far);
            amount[k] = along ? through * area_left : -(through * area_right);
        }
        std::fill(amount + n, amount + nz, 0.0);
    }
}

void Passes::column(const Row &row, int64_t at, const double *flux_in, const double *flux_out, const double *amounts_in,
                    const double *amounts_out, double area, const Target &to) const {
    const int64_t nz = grid.nz, n = row.levels[at];
    const double ratio = dt / area, inverse = 1 / area;
    const double *h = row.thickness + at * nz;
#pragma omp simd
    for (int64_t k = 0; k < n; ++k)
        to.thickness[k] = h[k] - ratio * (flux_out[k] - flux_in[k]);
    for (int64_t t = 0; t < tracers; ++t) {
        const double *q = row.value + t * row.next_tracer + at * nz;
        const double *in = amounts_in + t * nz, *out = amounts_out + t * nz;
        double *result = to.value + t * to.next_tracer;
#pragma omp simd
        for (int64_t k = 0; k < n; ++k)
            result[k] = (h[k] * q[k] - inverse * (out[k] - in[k])) / to.thickness[k];
    }
}

void Passes::diffusion(double diffusivity, const double *value, const double *eta, int64_t block, int64_t x, int64_t y,
                       double *added, int64_t next_tracer) const {
    const int64_t nz = grid.nz, here = grid.column(block, x, y), n = grid.levels[here], row = block * grid.ny + y;
    const double *dz = grid.thickness.data();
    const double factor = diffusivity * dt / (grid.dx[row] * grid.dy);
    const double along_x = factor * (grid.dy / grid.dx[row]);
    const int64_t neighbours[4] = {here - grid.ny, here + grid.ny, here - 1, here + 1};
    // The width of a face towards y is that at the corners' y.
    const double weights[4] = {along_x, along_x, factor * (grid.dx_u[row - 1] / grid.dy),
                               factor * (grid.dx_u[row] / grid.dy)};
    for (int64_t t = 0; t < tracers; ++t) {
        const double *q = value + t * grid.cells() + here * nz;
        double *sum = added + t * next_tracer;
        for (int i = 0; i < 4; ++i) {
            const int64_t other = neighbours[i], both = std::min<int64_t>(n, grid.levels[other]);
            const double *r = value + t * grid.cells() + other * nz, weight = weights[i];
            if (both == 0)
                continue;
            const double above = std::min(eta[here], eta[other]);
            sum[0] += weight * ((dz[0] + above) * (r[0] - q[0]));
#pragma omp simd
            for (int64_t k = 1; k < both; ++k)
                sum[k] += weight * (dz[k] * (r[k] - q[k]));
        }
    }
}

} // namespace fathometer::ocean
