// The bracket of two fields on a plane across the magnetic field, by products on a larger grid.
#include "plasma.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/arithmetic.hpp"
#include "core/denormals.hpp"

namespace fathometer::plasma {

namespace {

// On the calling thread: a batch of rows is one thread's.
template <class Work> void each(int64_t count, Work work) {
    FlushDenormals guard;
    for (int64_t n = 0; n < count; ++n)
        work(n);
}

} // namespace

void spread(const Plane &plane, int64_t rows, int64_t first, int64_t from, int64_t count, const double *g,
            const double *j0, Potentials fields, double *result) {
    const int64_t waves = plane.waves, last = plane.last(), line = 2 * plane.nx, of_row = plane.modes * line;
    each(count, [&](int64_t n) {
        const int64_t row = from + n, t = (first + row) % plane.points, v = (first + row) / plane.points;
        const double speed = plane.speed[v];
        for (int64_t mode = 0; mode < plane.modes; ++mode) {
            const double *own = g + 2 * (mode * rows + row) * waves, *j = j0 + (mode * rows + row) * waves;
            const double *phi = fields.phi + 2 * (mode * plane.points + t) * waves;
            const double *a = fields.a ? fields.a + 2 * (mode * plane.points + t) * waves : nullptr;
            const double ky = plane.ky[mode];
            double *to[derivatives];
            for (int64_t d = 0; d < derivatives; ++d) {
                to[d] = result + (d * count + n) * of_row + mode * line;
                std::fill(to[d] + 2 * (last + 1), to[d] + line - 2 * last, 0.0);
            }
            for (int64_t i = 0; i < waves; ++i) {
                const int64_t place = 2 * (i < last ? i - last + plane.nx : i - last);
                const double kx = plane.kx[i];
                double chi_re = phi[2 * i], chi_im = phi[2 * i + 1];
                if (a)
                    chi_re = madd(-speed, a[2 * i], chi_re), chi_im = madd(-speed, a[2 * i + 1], chi_im);
                chi_re *= j[i], chi_im *= j[i];
                const double g_re = own[2 * i], g_im = own[2 * i + 1];
                to[0][place] = -kx * chi_im, to[0][place + 1] = kx * chi_re;
                to[1][place] = -ky * g_im, to[1][place + 1] = ky * g_re;
                to[2][place] = -ky * chi_im, to[2][place + 1] = ky * chi_re;
                to[3][place] = -kx * g_im, to[3][place + 1] = kx * g_re;
            }
        }
    });
}

void multiply(const Plane &plane, int64_t count, const double *derivative, double *product, double *rates) {
    const int64_t points = plane.nx * plane.ny;
    const double kx = plane.kx.back(), ky = plane.ky.back();
    each(count, [&](int64_t n) {
        const double *chi_x = derivative + n * points, *g_y = chi_x + count * points, *chi_y = g_y + count * points,
                     *g_x = chi_y + count * points;
        double *to = product + n * points;
        constexpr int64_t lanes = 8;                    // of maxima, which the compiler makes vectors of
        double largest[lanes] = {}, poison[lanes] = {}; // not finite where a rate is not
        for (int64_t p = 0; p < points; p += lanes) {
            const int64_t width = std::min(lanes, points - p);
            const auto one = [&](int64_t lane) {
                const int64_t at = p + lane;
                to[at] = chi_x[at] * g_y[at] - chi_y[at] * g_x[at];
                const double rate = std::fabs(chi_x[at]) * ky + std::fabs(chi_y[at]) * kx;
                largest[lane] = rate > largest[lane] ? rate : largest[lane];
                poison[lane] += 0 * rate;
            };
            if (width == lanes)
                for (int64_t lane = 0; lane < lanes; ++lane)
                    one(lane);
            else
                for (int64_t lane = 0; lane < width; ++lane)
                    one(lane);
        }
        rates[n] = *std::max_element(largest, largest + lanes) + std::accumulate(poison, poison + lanes, 0.0);
    });
}

void collect(const Plane &plane, int64_t rows, int64_t from, int64_t count, const double *transform, double *bracket) {
    const int64_t waves = plane.waves, last = plane.last(), line = 2 * plane.nx;
    each(count, [&](int64_t n) {
        for (int64_t mode = 0; mode < plane.modes; ++mode) {
            const double *own = transform + (n * plane.modes + mode) * line;
            double *to = bracket + 2 * (mode * rows + from + n) * waves;
            std::copy(own + line - 2 * last, own + line, to);
            std::copy(own, own + 2 * (last + 1), to + 2 * last);
        }
    });
}

void add_rate(int64_t count, const double *before, const double *rate, double step, double *after, const double *from,
              double part, double *sum) {
#pragma omp parallel
    {
        FlushDenormals guard;
#pragma omp for schedule(static)
        for (int64_t n = 0; n < count; ++n) {
            const double own = rate[n], base = before[n], other = sum ? from[n] : 0;
            if (after)
                after[n] = madd(step, own, base);
            if (sum)
                sum[n] = madd(part, own, other);
        }
    }
}

} // namespace fathometer::plasma
