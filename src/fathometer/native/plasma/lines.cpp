// Terms that need all of a field line: streaming, drift, drive; quadratic sums.
#include "plasma.hpp"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.hpp"
#include "core/denormals.hpp"

namespace fathometer::plasma {

namespace {

constexpr int64_t reach = 3; // points of the stencil on either side

// h of a mode and a velocity with `reach` rows beyond either end, and the same over the root of B.
class Line {
  public:
    explicit Line(const Lines &lines)
        : lines(lines), row(2 * lines.waves), h(static_cast<std::size_t>((lines.points + 2 * reach) * row)),
          over(h.size()) {}

    void fill(int64_t mode, int64_t v, const double *g, const double *j0, Potentials fields) {
        const int64_t at = mode * lines.velocities + v, all = lines.places();
        const double *own = g + 2 * at * all, *j = j0 + at * all, *inverse = lines.inverse.data();
        const double *phi = fields.phi + 2 * mode * all, *a = fields.a ? fields.a + 2 * mode * all : nullptr;
        const double z = lines.charge[v], speed = lines.speed[v];
        double *to = h.data() + reach * row, *scaled = over.data() + reach * row;
        if (a)
            for (int64_t n = 0; n < 2 * all; ++n)
                to[n] = madd(-speed, a[n], phi[n]);
        else
            std::copy(phi, phi + 2 * all, to);
#pragma GCC ivdep
        for (int64_t i = 0; i < all; ++i) {
            const double factor = z * j[i];
            to[2 * i] = madd(factor, to[2 * i], own[2 * i]),
                   to[2 * i + 1] = madd(factor, to[2 * i + 1], own[2 * i + 1]);
        }
        for (int64_t n = 0; n < 2 * all; ++n)
            scaled[n] = to[n] * inverse[n];
        const int64_t shift = lines.shift[mode];
        for (std::vector<double> *rows : {&h, &over})
            for (int64_t n = 0; n < reach; ++n) {
                // One turn on, a mode is found `shift` modes further along kx.
                turn(rows->data() + (lines.points + n) * row, rows->data() + n * row, -shift);
                turn(rows->data() + (reach + n) * row, rows->data() + (lines.points + reach + n) * row, shift);
            }
    }

    // At the begin of the turn: h, and over the root of B.
    const double *first() const { return h.data() + reach * row; }
    const double *scaled() const { return over.data() + reach * row; }
    int64_t length() const { return row; }

  private:
    void turn(const double *from, double *to, int64_t shift) const {
        const int64_t begin = std::clamp<int64_t>(-2 * shift, 0, row),
                      end = std::clamp<int64_t>(row - 2 * shift, 0, row);
        std::fill(to, to + begin, 0.0);
        if (begin < end)
            std::copy(from + begin + 2 * shift, from + end + 2 * shift, to + begin);
        std::fill(to + std::max(begin, end), to + row, 0.0);
    }

    const Lines &lines;
    int64_t row;
    std::vector<double> h, over;
};

// Sixth order: the centred difference, and the sixth difference, which damps what the grid does not resolve.
[[gnu::always_inline]] inline double slope(const double *f, int64_t n, int64_t row) {
    const double one = f[n + row] - f[n - row], two = f[n + 2 * row] - f[n - 2 * row],
                 three = f[n + 3 * row] - f[n - 3 * row];
    return madd(45.0, one, madd(-9.0, two, three)) * (1.0 / 60);
}

[[gnu::always_inline]] inline double sixth(const double *f, int64_t n, int64_t row) {
    const double one = f[n + row] + f[n - row], two = f[n + 2 * row] + f[n - 2 * row],
                 three = f[n + 3 * row] + f[n - 3 * row];
    return madd(-20.0, f[n], madd(15.0, one, madd(-6.0, two, three))) * (1.0 / 60);
}

// Calls work(line, mode, velocity) for all of them, in a team of threads.
template <class Work> void each_line(const Lines &lines, Work work) {
#pragma omp parallel
    {
        FlushDenormals guard;
        Line line(lines);
#pragma omp for collapse(2) schedule(static)
        for (int64_t mode = 0; mode < lines.modes; ++mode)
            for (int64_t v = 0; v < lines.velocities; ++v)
                work(line, mode, v);
    }
}

} // namespace

void along_lines(const Lines &lines, const double *g, const double *j0, Potentials fields, const double *bracket,
                 double *rate) {
    const int64_t all = lines.places();
    each_line(lines, [&](Line &line, int64_t mode, int64_t v) {
        line.fill(mode, v, g, j0, fields);
        const int64_t block = (mode * lines.velocities + v) * all, row = line.length();
        const double stream = lines.stream[v], upwind = lines.upwind[v], curvature = lines.curvature[v];
        const double drive = lines.drive[mode * lines.velocities + v] / lines.charge[v];
        const double *h = line.first(), *over = line.scaled(), *own = g + 2 * block, *root = lines.root.data();
        const double *drift = lines.drift.data() + mode * all, *damping = lines.damping.data() + 2 * mode * all;
        double *to = rate + 2 * block;
        const double *less = bracket ? bracket + 2 * block : nullptr;
        // First what does not mix real and imaginary parts: the compiler makes vectors of either loop, not of both in
        // one. No two arrays overlap (ivdep), which are too many for it to see.
#pragma GCC ivdep
        for (int64_t n = 0; n < 2 * all; ++n) {
            const double along = madd(-stream * root[n], slope(over, n, row), madd(upwind, sixth(h, n, row), to[n]));
            to[n] = madd(-damping[n], h[n], along);
        }
#pragma GCC ivdep
        for (int64_t n = 0; n < 2 * all; n += 2) {
            // (Z/T) chi is what h has more than g.
            const double chi_re = h[n] - own[n], chi_im = h[n + 1] - own[n + 1], turn = drift[n / 2] * curvature;
            to[n] = madd(turn, h[n + 1], madd(drive, chi_im, to[n]));
            to[n + 1] = madd(-turn, h[n], madd(-drive, chi_re, to[n + 1]));
        }
        if (less)
            for (int64_t n = 0; n < 2 * all; ++n)
                to[n] -= less[n];
    });
}

void sum_lines(const Lines &lines, const double *g, const double *j0, Potentials fields, double *sums) {
    const int64_t waves = lines.waves, all = lines.places();
    each_line(lines, [&](Line &line, int64_t mode, int64_t v) {
        line.fill(mode, v, g, j0, fields);
        const int64_t at = mode * lines.velocities + v, row = line.length();
        double square = 0, drive = 0, upwind = 0, damped = 0;
        for (int64_t t = 0; t < lines.points; ++t) {
            const double *h = line.first() + t * row, *own = g + 2 * (at * all + t * waves);
            const double *damping = lines.damping.data() + 2 * (mode * all + t * waves);
            double of_square = 0, of_drive = 0, of_upwind = 0, of_damping = 0;
            for (int64_t i = 0; i < waves; ++i) {
                const int64_t re = 2 * i, im = re + 1;
                const double size = h[re] * h[re] + h[im] * h[im];
                of_square += size;
                of_drive += h[re] * (h[im] - own[im]) - h[im] * (h[re] - own[re]);
                of_upwind += h[re] * sixth(h, re, row) + h[im] * sixth(h, im, row);
                of_damping -= damping[re] * size;
            }
            const double weight = 1 / (lines.root[2 * t * waves] * lines.root[2 * t * waves]);
            square += weight * of_square, drive += weight * of_drive;
            upwind += weight * of_upwind, damped += weight * of_damping;
        }
        double *to = sums + at * line_sums;
        to[0] = square, to[1] = drive / lines.charge[v], to[2] = upwind * lines.upwind[v], to[3] = damped;
    });
}

} // namespace fathometer::plasma
