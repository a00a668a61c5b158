// Terms that need all velocities of a place: the sums of the fields, the mirror force, collisions.
#include "plasma.hpp"

#include <algorithm>

#include "core/arithmetic.hpp"
#include "core/denormals.hpp"

namespace fathometer::plasma {

namespace {

// Doubles of a row of places that are worked on together; of these in registers at a time.
constexpr int64_t chunk = 64, block = 32;

// Calls work(mode, first double, doubles) for all places, in a team of threads.
template <class Work> void each_chunk(const Velocities &all, Work work) {
    const int64_t row = 2 * all.places, chunks = (row + chunk - 1) / chunk;
#pragma omp parallel
    {
        FlushDenormals guard;
#pragma omp for collapse(2) schedule(static)
        for (int64_t mode = 0; mode < all.modes; ++mode)
            for (int64_t n = 0; n < chunks; ++n)
                work(mode, n * chunk, std::min(chunk, row - n * chunk));
    }
}

// h of the angles of a shell on a chunk of places.
class Shell {
  public:
    Shell(const Velocities &all, const double *g, const double *j0, Potentials fields)
        : all(all), g(g), j0(j0), fields(fields), h(static_cast<std::size_t>(all.angles * chunk)) {}

    void fill(int64_t mode, int64_t shell, int64_t first, int64_t count) {
        const int64_t row = 2 * all.places;
        const double *phi = fields.phi + mode * row + first, *a = fields.a ? fields.a + mode * row + first : nullptr;
        for (int64_t x = 0; x < all.angles; ++x) {
            const int64_t v = shell * all.angles + x, at = mode * all.velocities() + v;
            const double *own = g + at * row + first, *j = j0 + at * all.places + first / 2;
            const double z = all.charge[v], speed = all.speed[v];
            double *to = h.data() + x * chunk;
            const auto add = [=](int64_t i, double re, double im) {
                const double factor = z * j[i];
                to[2 * i] = madd(factor, re, own[2 * i]), to[2 * i + 1] = madd(factor, im, own[2 * i + 1]);
            };
            if (a)
                for (int64_t i = 0; i < count / 2; ++i)
                    add(i, madd(-speed, a[2 * i], phi[2 * i]), madd(-speed, a[2 * i + 1], phi[2 * i + 1]));
            else
                for (int64_t i = 0; i < count / 2; ++i)
                    add(i, phi[2 * i], phi[2 * i + 1]);
        }
    }

    const double *angle(int64_t x) const { return h.data() + x * chunk; }

    // sum = row x of a matrix times h.
    void product(const std::vector<double> &matrix, int64_t x, int64_t count, double *sum) const {
        const double *factors = matrix.data() + x * all.angles;
        for (int64_t n = 0; n < count; n += block) { // h has whole chunks
            double own[block] = {};
            for (int64_t y = 0; y < all.angles; ++y) {
                const double factor = factors[y], *from = angle(y) + n;
                for (int64_t lane = 0; lane < block; ++lane)
                    own[lane] = madd(factor, from[lane], own[lane]);
            }
            std::copy(own, own + block, sum + n);
        }
    }

  private:
    const Velocities &all;
    const double *g, *j0;
    Potentials fields;
    std::vector<double> h;
};

} // namespace

void sum_velocities(const Velocities &all, const double *g, const double *j0, int64_t fields, double *sums) {
    const int64_t row = 2 * all.places;
    each_chunk(all, [&](int64_t mode, int64_t first, int64_t count) {
        double sum[chunk] = {}, flow[chunk] = {};
        for (int64_t v = 0; v < all.velocities(); ++v) {
            const int64_t at = mode * all.velocities() + v;
            const double *own = g + at * row + first, *j = j0 + at * all.places + first / 2;
            const double weight = all.weight[v];
            const auto add = [=](double factor, double *to) {
                for (int64_t i = 0; i < count / 2; ++i) {
                    to[2 * i] = madd(factor * j[i], own[2 * i], to[2 * i]);
                    to[2 * i + 1] = madd(factor * j[i], own[2 * i + 1], to[2 * i + 1]);
                }
            };
            add(weight, sum);
            if (fields > 1)
                add(weight * all.speed[v], flow);
        }
        std::copy(sum, sum + count, sums + mode * row + first);
        if (fields > 1)
            std::copy(flow, flow + count, sums + (all.modes + mode) * row + first);
    });
}

void mix_velocities(const Velocities &all, const double *g, const double *j0, Potentials fields, double *rate) {
    const int64_t row = 2 * all.places;
    each_chunk(all, [&](int64_t mode, int64_t first, int64_t count) {
        Shell h(all, g, j0, fields);
        double sum[chunk];
        const double *gradient = all.gradient.data() + first / 2;
        for (int64_t shell = 0; shell < all.shells; ++shell) {
            h.fill(mode, shell, first, count);
            for (int64_t x = 0; x < all.angles; ++x) {
                const int64_t v = shell * all.angles + x;
                double *to = rate + (mode * all.velocities() + v) * row + first;
                h.product(all.mirror, x, count, sum);
                const double speed = all.mirror_speed[shell];
                for (int64_t i = 0; i < count / 2; ++i) {
                    const double factor = speed * gradient[i];
                    to[2 * i] = factor * sum[2 * i], to[2 * i + 1] = factor * sum[2 * i + 1];
                }
                if (!all.nu.empty()) {
                    h.product(all.scattering, x, count, sum);
                    for (int64_t n = 0; n < count; ++n)
                        to[n] = madd(all.nu[shell], sum[n], to[n]);
                }
            }
        }
    });
}

void sum_collisions(const Velocities &all, const double *g, const double *j0, Potentials fields, const double *energy,
                    double *sums) {
    std::fill(sums, sums + all.modes * all.places, 0.0);
    if (all.nu.empty())
        return;
    each_chunk(all, [&](int64_t mode, int64_t first, int64_t count) {
        Shell h(all, g, j0, fields);
        double sum[chunk], *to = sums + mode * all.places + first / 2;
        for (int64_t shell = 0; shell < all.shells; ++shell) {
            h.fill(mode, shell, first, count);
            for (int64_t x = 0; x < all.angles; ++x) {
                h.product(all.scattering, x, count, sum);
                const double *own = h.angle(x), weight = energy[shell * all.angles + x] * all.nu[shell];
                for (int64_t n = 0; n < count; n += 2)
                    to[n / 2] += weight * (own[n] * sum[n] + own[n + 1] * sum[n + 1]);
            }
        }
    });
}

} // namespace fathometer::plasma
