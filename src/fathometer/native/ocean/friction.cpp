#include "friction.hpp"

namespace fathometer::ocean {

void Friction::solve(const Grid &grid, double dt_viscosity, FrictionColumns &columns, double *right_u,
                     double *right_v) {
    const int64_t n = *std::max_element(columns.levels, columns.levels + width), whole = padded(n);
    const int64_t stride = int64_t(u.size());
    if (n == 0)
        return;
    to_lanes(right_u, stride, whole, u.data());
    to_lanes(right_v, stride, whole, v.data());
    Lanes levels;
    for (int l = 0; l < width; ++l)
        levels[l] = double(columns.levels[l]);
    const Lanes zero{}, top = load(columns.top), turn = load(columns.turn), drag = load(columns.drag);
    const auto thickness = [&](int64_t k) { return k == 0 ? top : all_lanes(grid.thickness[k]); };

    coupling[0] = zero;
    for (int64_t k = 1; k <= n; ++k)
        coupling[k] =
            double(k) < levels ? (2 * dt_viscosity) / (thickness(k - 1) + thickness(std::min(k, n - 1))) : zero;
    for (int64_t k = 0; k < n; ++k) {
        const Lanes h = thickness(k);
        Lanes pivot_u = h + (coupling[k] + coupling[k + 1]), pivot_v = h * turn;
        pivot_u += double(k + 1) == levels ? drag : zero;
        Lanes sum_u = h * u[k], sum_v = h * v[k];
        if (k == 0) {
            sum_u += 0.0 < levels ? load(columns.wind_u) : zero;
            sum_v += 0.0 < levels ? load(columns.wind_v) : zero;
        } else {
            const Lanes c = coupling[k], a = c * inverse_u[k - 1], b = c * inverse_v[k - 1];
            pivot_u -= c * a;
            pivot_v -= c * b;
            sum_u += a * u[k - 1] - b * v[k - 1];
            sum_v += a * v[k - 1] + b * u[k - 1];
        }
        const Lanes inverse = 1 / (pivot_u * pivot_u + pivot_v * pivot_v);
        inverse_u[k] = pivot_u * inverse;
        inverse_v[k] = -(pivot_v * inverse);
        u[k] = sum_u;
        v[k] = sum_v;
    }
    Lanes total_u = zero, total_v = zero;
    for (int64_t k = n - 1; k >= 0; --k) {
        Lanes sum_u = u[k], sum_v = v[k];
        if (k + 1 < n) {
            sum_u += coupling[k + 1] * u[k + 1];
            sum_v += coupling[k + 1] * v[k + 1];
        }
        u[k] = inverse_u[k] * sum_u - inverse_v[k] * sum_v;
        v[k] = inverse_u[k] * sum_v + inverse_v[k] * sum_u;
        total_u += thickness(k) * u[k];
        total_v += thickness(k) * v[k];
    }
    store(columns.sum_u, total_u);
    store(columns.sum_v, total_v);
    from_lanes(u.data(), whole, right_u, stride);
    from_lanes(v.data(), whole, right_v, stride);
}

} // namespace fathometer::ocean
