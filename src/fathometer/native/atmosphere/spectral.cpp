// What is done with coefficients of spherical harmonics: winds from vorticity and divergence, rates from the transforms
// of products, semi-implicit leapfrog steps.
#include "atmosphere.hpp"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.hpp"
#include "core/denormals.hpp"

namespace fathometer::atmosphere {

namespace {

// Calls work(wave, row) for all rows, in a team of threads.
template <class Work> void each_row(const Sphere &sphere, Work work) {
    const int64_t waves = int64_t(sphere.waves.size());
#pragma omp parallel
    {
        FlushDenormals guard;
#pragma omp for schedule(dynamic)
        for (int64_t wave = 0; wave < waves; ++wave)
            for (int64_t row = sphere.begin[wave]; row < sphere.begin[wave + 1]; ++row)
                work(std::size_t(wave), row);
    }
}

} // namespace

void spread(const Sphere &sphere, int64_t levels, double radius, const double *state, double *result) {
    const int64_t width = 2 * state_columns(levels), wide = 2 * grid_columns(levels), l2 = 2 * levels;
    each_row(sphere, [&](std::size_t wave, int64_t row) {
        const int64_t n = sphere.total(wave, row), last = sphere.begin[wave + 1] - 1;
        const double m = double(sphere.waves[wave]);
        double *to = result + row * wide;
        const double *own = state + row * width;
        const bool within = n <= sphere.truncation;
        if (within)
            std::copy(own, own + 3 * l2, to);
        else
            std::fill(to, to + 3 * l2, 0.0);
        // -1 / Laplacian of n, of which psi and chi are minus that times vorticity and divergence.
        const auto inverse = [=](int64_t k) { return k > 0 ? radius * radius / double(k * (k + 1)) : 0.0; };
        const bool above = row < last && n + 1 <= sphere.truncation, below = row > sphere.begin[wave];
        const double next = above ? double(n + 2) * sphere.epsilon[row + 1] : 0.0;
        const double previous = below ? double(n - 1) * sphere.epsilon[row] : 0.0;
        const double here = within ? m * inverse(n) / radius : 0.0;
        const double up = next * inverse(n + 1) / radius, down = previous * inverse(n - 1) / radius;
        const double *after = above ? own + width : own, *before = below ? own - width : own;
        double *u = to + 3 * l2, *v = u + l2;
        for (int64_t k = 0; k < l2; k += 2) {
            const double *z = own + k, *d = own + l2 + k;
            // i m times a number turns it: (re, im) -> m (-im, re); psi = -inverse z.
            const auto along = [=](const double *of, int part) { return part ? -here * of[0] : here * of[1]; };
            for (int part = 0; part < 2; ++part) {
                const double z_along = within ? along(z, part) : 0.0, d_along = within ? along(d, part) : 0.0;
                const double z_up = after[k + part], z_down = before[k + part];
                const double d_up = after[l2 + k + part], d_down = before[l2 + k + part];
                u[k + part] = d_along + (up * z_up - down * z_down);
                v[k + part] = z_along - (up * d_up - down * d_down);
            }
        }
        // ln p_s and its derivatives.
        const int64_t q = 3 * l2;
        double *last_columns = to + 5 * l2;
        for (int part = 0; part < 2; ++part) {
            last_columns[part] = within ? own[q + part] : 0.0;
            const double turned = part ? own[q] : -own[q + 1];
            last_columns[2 + part] = within ? m / radius * turned : 0.0;
            last_columns[4 + part] = (next * after[q + part] - previous * before[q + part]) / radius;
        }
    });
}

void gather(const Sphere &sphere, int64_t levels, double radius, const double *surface, const double *sums,
            double *result) {
    const int64_t width = 2 * state_columns(levels), wide = 2 * rate_columns(levels), l2 = 2 * levels;
    each_row(sphere, [&](std::size_t wave, int64_t row) {
        const int64_t n = sphere.total(wave, row);
        double *to = result + row * width;
        if (n > sphere.truncation) {
            std::fill(to, to + width, 0.0);
            return;
        }
        const bool below = row > sphere.begin[wave];
        const double *own = sums + row * wide, *after = own + wide, *before = below ? own - wide : own;
        const double here = double(sphere.waves[wave]) / radius;
        const double down = below ? double(n + 1) * sphere.epsilon[row] / radius : 0.0;
        const double up = double(n) * sphere.epsilon[row + 1] / radius;
        const double laplacian = double(n * (n + 1)) / (radius * radius);
        // i m over the radius times a column, and its derivative along latitude by parts.
        const auto along = [=](int64_t c, int part) { return part ? here * own[c] : -here * own[c + 1]; };
        const auto across = [=](int64_t c, int part) { return down * before[c + part] - up * after[c + part]; };
        for (int64_t k = 0; k < l2; k += 2)
            for (int part = 0; part < 2; ++part) {
                const int64_t u = k, v = l2 + k, ut = 2 * l2 + k, vt = 3 * l2 + k, rate = 4 * l2 + k,
                              energy = 5 * l2 + k;
                to[k + part] = along(v, part) + across(u, part);
                to[l2 + k + part] =
                    (along(u, part) - across(v, part)) + laplacian * (own[energy + part] + surface[2 * row + part]);
                to[2 * l2 + k + part] = own[rate + part] - (along(ut, part) - across(vt, part));
            }
        for (int part = 0; part < 2; ++part)
            to[3 * l2 + part] = own[6 * l2 + part];
    });
}

void leap(const Sphere &sphere, int64_t levels, double radius, double dt, const Implicit &implicit,
          const double *flow_damping, const double *temperature_damping, double filter, const double *rates,
          double *before, double *now) {
    const int64_t width = 2 * state_columns(levels), l2 = 2 * levels, q = 3 * l2;
    // sum [part, level] += factor matrix · values [part, level]; matrices with their columns first.
    const auto add = [levels](const double *matrix, double factor, const double *values, double *sum) {
        for (int part = 0; part < 2; ++part, values += levels, sum += levels)
            for (int64_t l = 0; l < levels; ++l) {
                const double value = factor * values[l];
                const double *column = matrix + l * levels;
                for (int64_t k = 0; k < levels; ++k)
                    sum[k] = madd(column[k], value, sum[k]);
            }
    };
    each_row(sphere, [&](std::size_t wave, int64_t row) {
        const int64_t n = sphere.total(wave, row);
        if (n > sphere.truncation)
            return;
        double *old = before + row * width, *own = now + row * width;
        const double *rate = rates + row * width;
        thread_local std::vector<double> scratch;
        scratch.assign(static_cast<std::size_t>(6 * l2), 0.0);
        double *change = scratch.data(), *right = change + l2, *heat = right + l2, *next = heat + l2;
        const double steep = dt * double(n * (n + 1)) / (radius * radius);
        // [part, level]: heat = r_T; right = r_delta + dt c_n (G r_T + R T_ref r_q).
        const auto explicit_change = [=](int64_t c) { return (old[c] - own[c]) + dt * rate[c]; };
        double surface[2];
        for (int part = 0; part < 2; ++part) {
            surface[part] = explicit_change(q + part);
            for (int64_t k = 0; k < levels; ++k) {
                heat[part * levels + k] = explicit_change(2 * l2 + 2 * k + part);
                right[part * levels + k] =
                    explicit_change(l2 + 2 * k + part) + steep * (implicit.surface * surface[part]);
            }
        }
        add(implicit.hydrostatic, steep, heat, right);
        add(implicit.inverse + n * levels * levels, 1.0, right, change);
        add(implicit.energy, -dt, change, heat);
        for (int part = 0; part < 2; ++part) {
            double sum = 0;
            for (int64_t k = 0; k < levels; ++k)
                sum = madd(implicit.mass[k], change[part * levels + k], sum);
            surface[part] -= dt * sum;
        }
        for (int64_t k = 0; k < levels; ++k)
            for (int part = 0; part < 2; ++part) {
                const int64_t z = 2 * k + part, d = l2 + z, t = 2 * l2 + z, at = part * levels + k;
                next[z] = flow_damping[n] * (old[z] + 2 * dt * rate[z]);
                next[d] = flow_damping[n] * (2 * (own[d] + change[at]) - old[d]);
                next[t] = temperature_damping[n] * (2 * (own[t] + heat[at]) - old[t]);
            }
        const auto put = [=](int64_t c, double value) {
            const double filtered = own[c] + filter * ((old[c] - 2 * own[c]) + value);
            old[c] = filtered, own[c] = value;
        };
        for (int64_t c = 0; c < q; ++c)
            put(c, next[c]);
        for (int part = 0; part < 2; ++part)
            put(q + part, 2 * (own[q + part] + surface[part]) - old[q + part]);
    });
}

} // namespace fathometer::atmosphere
