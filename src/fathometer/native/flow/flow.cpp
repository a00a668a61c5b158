#include "flow.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/denormals.hpp"

namespace fathometer::flow {

namespace {

// Calls row(k, j, first cell of the row) for all rows of owned cells, in a team of threads.
template <class Row> void each_row(const Block &block, Row row) {
#pragma omp parallel
    {
        FlushDenormals guard;
#pragma omp for collapse(2) schedule(static)
        for (int64_t k = 0; k < block.cells[2]; ++k)
            for (int64_t j = 0; j < block.cells[1]; ++j)
                row(k, j, block.origin + k * block.stride[2] + j * block.stride[1]);
    }
}

// A value of a field at the place `at`, and what the loops over a row make of it.
[[gnu::always_inline]] inline double mean(const double *q, int64_t at, int64_t step) {
    return 0.5 * (q[at] + q[at + step]);
}

template <int dims>
[[gnu::always_inline]] inline double diffusion(const double *q, int64_t at, const int64_t *stride, const double *h2) {
    double sum = 0;
    for (int b = 0; b < dims; ++b)
        sum += ((q[at + stride[b]] - q[at]) - (q[at] - q[at - stride[b]])) * h2[b];
    return sum;
}

struct Inverses {
    double first[3], second[3];
    explicit Inverses(const Block &block) {
        for (int a = 0; a < 3; ++a)
            first[a] = 1 / block.spacing[a], second[a] = first[a] * first[a];
    }
};

// The rate of velocity a at a face.
template <int dims, int a>
[[gnu::always_inline]] inline double momentum(const double *u, int64_t field, int64_t at, const int64_t *stride,
                                              const Inverses &over, double viscosity) {
    const double *q = u + a * field;
    double rate = viscosity * diffusion<dims>(q, at, stride, over.second);
    for (int b = 0; b < dims; ++b) {
        const double *v = u + b * field;
        const int64_t up = stride[b];
        double above, below;
        if (b == a) {
            above = mean(q, at, up) * mean(q, at, up);
            below = mean(q, at - up, up) * mean(q, at - up, up);
        } else {
            above = mean(q, at, up) * mean(v, at + up - stride[a], stride[a]);
            below = mean(q, at - up, up) * mean(v, at - stride[a], stride[a]);
        }
        rate -= (above - below) * over.first[b];
    }
    return rate;
}

template <int dims>
[[gnu::always_inline]] inline double heating(const double *u, int64_t field, int64_t at, const int64_t *stride,
                                             const Inverses &over, double diffusivity) {
    const double *t = u + dims * field;
    double rate = diffusivity * diffusion<dims>(t, at, stride, over.second);
    for (int b = 0; b < dims; ++b) {
        const double *v = u + b * field;
        const int64_t up = stride[b];
        rate -= (v[at + up] * mean(t, at, up) - v[at] * mean(t, at - up, up)) * over.first[b];
    }
    return rate;
}

// Stores rates of a row, and the values after the stage.
template <class Rate>
[[gnu::always_inline]] inline void advance(const double *u, double *rate, double *next, int64_t begin, int64_t end,
                                           Stage weights, Rate rate_at) {
    if (!next) {
#pragma omp simd
        for (int64_t at = begin; at < end; ++at)
            rate[at] = rate_at(at);
    } else if (weights.before == 0) {
#pragma omp simd
        for (int64_t at = begin; at < end; ++at) {
            const double now = rate_at(at);
            next[at] = u[at] + weights.now * now;
            rate[at] = now;
        }
    } else {
#pragma omp simd
        for (int64_t at = begin; at < end; ++at) {
            const double now = rate_at(at);
            next[at] = u[at] + (weights.now * now + weights.before * rate[at]);
            rate[at] = now;
        }
    }
}

template <int dims, int a>
void momentum_row(const Block &block, const Fluid &fluid, const Inverses &over, const double *u, double *rate,
                  double *next, Stage weights, int64_t k, int64_t j, int64_t row) {
    if ((a == 1 && j < block.first[1]) || (a == 2 && k < block.first[2]))
        return;
    const int64_t begin = row + (a == 0 ? block.first[0] : 0), end = row + block.cells[0], shift = a * block.field;
    const double *heat = u + dims * block.field;
    const double push = fluid.push[a], lift = fluid.lift[a], reference = fluid.reference;
    auto plain = [&](int64_t at) {
        return momentum<dims, a>(u, block.field, at, block.stride, over, fluid.viscosity) + push;
    };
    auto lifted = [&](int64_t at) {
        return plain(at) + lift * (mean(heat, at - block.stride[a], block.stride[a]) - reference);
    };
    double *after = next ? next + shift : nullptr;
    if (fluid.heated && lift != 0)
        advance(u + shift, rate + shift, after, begin, end, weights, lifted);
    else
        advance(u + shift, rate + shift, after, begin, end, weights, plain);
}

template <int dims>
void predict_in(const Block &block, const Fluid &fluid, const double *u, double *rate, double *next, Stage weights) {
    const Inverses over(block);
    each_row(block, [&](int64_t k, int64_t j, int64_t row) {
        momentum_row<dims, 0>(block, fluid, over, u, rate, next, weights, k, j, row);
        momentum_row<dims, 1>(block, fluid, over, u, rate, next, weights, k, j, row);
        if constexpr (dims == 3)
            momentum_row<dims, 2>(block, fluid, over, u, rate, next, weights, k, j, row);
        if (fluid.heated) {
            const int64_t shift = dims * block.field;
            advance(
                u + shift, rate + shift, next ? next + shift : nullptr, row, row + block.cells[0], weights,
                [&](int64_t at) { return heating<dims>(u, block.field, at, block.stride, over, fluid.diffusivity); });
        }
    });
}

} // namespace

void predict(const Block &block, const Fluid &fluid, const double *u, double *rate, double *next, Stage weights) {
    (block.dims == 3 ? predict_in<3> : predict_in<2>)(block, fluid, u, rate, next, weights);
}

void leave(const Block &block, int axis, int side, double speed, const double *u, double *rate, double *next,
           Stage weights) {
    const int b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2;
    const int64_t inner = side ? -block.stride[axis] : block.stride[axis];
    const int64_t face = block.origin + (side ? block.cells[axis] * block.stride[axis] : 0);
    const double over = speed / block.spacing[axis];
    u += axis * block.field, rate += axis * block.field;
    for (int64_t n = 0; n < block.cells[c]; ++n)
        for (int64_t m = 0; m < block.cells[b]; ++m) {
            const int64_t at = face + n * block.stride[c] + m * block.stride[b];
            const double now = over * (u[at + inner] - u[at]);
            if (next)
                next[axis * block.field + at] =
                    u[at] + (weights.now * now + (weights.before == 0 ? 0 : weights.before * rate[at]));
            rate[at] = now;
        }
}

void divergence(const Block &block, const double *u, double scale, double *result) {
    const Inverses over(block);
    each_row(block, [&](int64_t k, int64_t j, int64_t row) {
        double *out = result + (k * block.cells[1] + j) * block.cells[0];
        for (int64_t i = 0; i < block.cells[0]; ++i) {
            double sum = 0;
            for (int a = 0; a < block.dims; ++a) {
                const double *q = u + a * block.field + row + i;
                sum += (q[block.stride[a]] - q[0]) * over.first[a];
            }
            out[i] = sum * scale;
        }
    });
}

void correct(const Block &block, const double *potential, double *u) {
    const Inverses over(block);
    each_row(block, [&](int64_t k, int64_t j, int64_t row) {
        const int64_t place[3] = {0, j, k};
        for (int a = 0; a < block.dims; ++a) {
            double *q = u + a * block.field;
            const int64_t below = block.stride[a];
            auto take = [&](int64_t at) { q[at] -= (potential[at] - potential[at - below]) * over.first[a]; };
            if (a == 0 || place[a] >= block.corrected[a])
                for (int64_t at = row + (a == 0 ? block.corrected[0] : 0); at < row + block.cells[0]; ++at)
                    take(at);
            if (!block.beyond[a])
                continue;
            if (a == 0)
                take(row + block.cells[0]);
            else if (place[a] == block.cells[a] - 1)
                for (int64_t at = row + below; at < row + below + block.cells[0]; ++at)
                    take(at);
        }
    });
}

void limits(const Block &block, const double *u, double *row_maxima) {
    const Inverses over(block);
    each_row(block, [&](int64_t k, int64_t j, int64_t row) {
        double courant = 0, worst = 0;
        for (int64_t at = row; at < row + block.cells[0]; ++at) {
            double speeds = 0, out = 0;
            for (int a = 0; a < block.dims; ++a) {
                const double low = u[a * block.field + at], high = u[a * block.field + at + block.stride[a]];
                speeds += std::max(std::abs(low), std::abs(high)) * over.first[a];
                out += (high - low) * over.first[a];
            }
            courant = std::max(courant, speeds);
            worst = std::max(worst, std::abs(out));
            if (!(speeds <= courant)) // not a number
                courant = speeds;
        }
        double *to = row_maxima + maxima * (k * block.cells[1] + j);
        to[0] = courant, to[1] = worst;
    });
}

void totals(const Block &block, const Fluid &fluid, const double *u, double *row_sums) {
    const Inverses over(block);
    each_row(block, [&](int64_t k, int64_t j, int64_t row) {
        double energy = 0, dissipation = 0, heat = 0;
        for (int64_t at = row; at < row + block.cells[0]; ++at) {
            double strain = 0;
            for (int a = 0; a < block.dims; ++a) {
                const double *q = u + a * block.field;
                const double low = q[at], high = q[at + block.stride[a]];
                energy += 0.25 * (low * low + high * high);
                for (int b = 0; b < block.dims; ++b) {
                    const double up = q[at + block.stride[b]] - q[at], down = q[at] - q[at - block.stride[b]];
                    strain += 0.5 * (up * up + down * down) * over.second[b];
                }
            }
            dissipation += fluid.viscosity * strain;
            if (fluid.heated)
                heat += u[block.dims * block.field + at];
        }
        double *to = row_sums + sums * (k * block.cells[1] + j);
        to[0] = energy, to[1] = dissipation, to[2] = heat;
    });
}

void vorticity(const Block &block, const double *u, double *result) {
    const Inverses over(block);
    each_row(block, [&](int64_t k, int64_t j, int64_t row) {
        double *out = result + (k * block.cells[1] + j) * block.cells[0];
        for (int64_t i = 0; i < block.cells[0]; ++i) {
            double square = 0;
            for (int a = 0; a < block.dims; ++a)
                for (int b = a + 1; b < block.dims; ++b) {
                    const double *v = u + a * block.field, *w = u + b * block.field;
                    const int64_t sa = block.stride[a], sb = block.stride[b];
                    double turn = 0; // of the four edges between these axes
                    for (int edge = 0; edge < 4; ++edge) {
                        const int64_t at = row + i + (edge & 1 ? sa : 0) + (edge & 2 ? sb : 0);
                        turn += (w[at] - w[at - sa]) * over.first[a] - (v[at] - v[at - sb]) * over.first[b];
                    }
                    square += 0.0625 * turn * turn;
                }
            out[i] = std::sqrt(square);
        }
    });
}

void fill(const Block &block, double *field, int axis, int side, Fill kind, double sign, double constant,
          const double *value) {
    const int b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2;
    const int64_t halo_b = b < block.dims, halo_c = c < block.dims;
    const int64_t nb = block.cells[b] + 2 * halo_b, nc = block.cells[c] + 2 * halo_c, n = block.cells[axis];
    const int64_t corner = block.origin - halo_b * block.stride[b] - halo_c * block.stride[c];
    const int64_t step = block.stride[axis];
    // Cells counted from the first owned one: which is filled, and from which.
    const int64_t to = kind == Fill::face ? (side ? n : 0) : (side ? n : -1);
    const int64_t from = kind == Fill::wrap ? (side ? 0 : n - 1) : (side ? n - 1 : 0);
    for (int64_t m = 0; m < nc; ++m) {
        double *row = field + corner + m * block.stride[c];
        const double *given = value ? value + m * nb : nullptr;
        for (int64_t l = 0; l < nb; ++l) {
            double *at = row + l * block.stride[b];
            const double here = given ? given[l] : constant;
            if (kind == Fill::wrap)
                at[to * step] = at[from * step];
            else if (kind == Fill::face)
                at[to * step] = here;
            else
                at[to * step] = sign * at[from * step] + here;
        }
    }
}

namespace {

constexpr int64_t width = 32; // columns that one thread solves at a time, whose factors stay in the cache

struct Factors {
    std::vector<double> c, q; // eliminated upper diagonal; the column that joins both ends
    explicit Factors(int64_t n, bool joined) : c(n * width), q(joined ? n * width : 0) {}
};

// Columns `begin` .. `begin + count` by elimination without pivots, which diagonally dominant rows need not; ends that
// are joined by the formula of Sherman and Morrison.
void solve_some(int64_t n, int64_t columns, double h2, bool joined, const double (&sign)[2], const double *lambda,
                double *x, int64_t count, Factors &factors) {
    double *c = factors.c.data(), *q = factors.q.data();
    double gamma[width], last[width];
    for (int64_t l = 0; l < count; ++l) {
        const double b = -2 - lambda[l] * h2;
        gamma[l] = -b;
        double diagonal = joined ? b - gamma[l] : b + sign[0];
        last[l] = joined ? b - 1 / gamma[l] : b + sign[1];
        if (n == 1)
            diagonal += sign[1];
        const double over = 1 / diagonal;
        c[l] = over;
        x[l] = h2 * x[l] * over;
        if (joined)
            q[l] = gamma[l] * over;
    }
    for (int64_t k = 1; k < n; ++k) {
        double *row = x + k * columns, *ck = c + k * width, *qk = q + k * width;
        const double *before = row - columns, *cb = ck - width, *qb = qk - width;
        for (int64_t l = 0; l < count; ++l) {
            const double diagonal = k == n - 1 ? last[l] : -2 - lambda[l] * h2;
            const double over = 1 / (diagonal - cb[l]);
            ck[l] = over;
            row[l] = (h2 * row[l] - before[l]) * over;
            if (joined)
                qk[l] = ((k == n - 1 ? 1.0 : 0.0) - qb[l]) * over;
        }
    }
    for (int64_t k = n - 2; k >= 0; --k)
        for (int64_t l = 0; l < count; ++l) {
            x[k * columns + l] -= c[k * width + l] * x[(k + 1) * columns + l];
            if (joined)
                q[k * width + l] -= c[k * width + l] * q[(k + 1) * width + l];
        }
    if (!joined)
        return;
    double share[width];
    for (int64_t l = 0; l < count; ++l) {
        const double ends = x[l] + x[(n - 1) * columns + l] / gamma[l];
        share[l] = ends / (1 + q[l] + q[(n - 1) * width + l] / gamma[l]);
    }
    for (int64_t k = 0; k < n; ++k)
        for (int64_t l = 0; l < count; ++l)
            x[k * columns + l] -= share[l] * q[k * width + l];
}

// The column whose solution has a constant to choose: its rows are summed up from one end, where the gradient is zero,
// or, joined, such that the gradients sum up to zero.
void solve_singular(int64_t n, int64_t columns, double h2, bool joined, double *x) {
    double mean = 0;
    for (int64_t k = 0; k < n; ++k)
        mean += x[k * columns];
    mean /= double(n);
    std::vector<double> slope(n + 1); // from cell k - 1 to cell k
    for (int64_t k = 0; k < n; ++k)
        slope[k + 1] = slope[k] + h2 * (x[k * columns] - mean);
    double shift = 0;
    if (joined) {
        for (int64_t k = 0; k < n; ++k)
            shift += slope[k];
        shift /= double(n);
    }
    double value = 0, sum = 0;
    for (int64_t k = 0; k < n; ++k) {
        if (k)
            value += slope[k] - shift;
        x[k * columns] = value;
        sum += value;
    }
    for (int64_t k = 0; k < n; ++k)
        x[k * columns] -= sum / double(n);
}

} // namespace

void solve_columns(int64_t n, int64_t columns, double spacing, bool joined, const double (&sign)[2],
                   const double *lambda, double *x) {
    const double h2 = spacing * spacing;
    const bool free = joined || (sign[0] > 0 && sign[1] > 0);
#pragma omp parallel
    {
        FlushDenormals guard;
        Factors factors(n, joined);
#pragma omp for schedule(static)
        for (int64_t begin = 0; begin < columns; begin += width) {
            const int64_t end = std::min(begin + width, columns);
            int64_t l = begin;
            while (l < end) {
                int64_t stop = l;
                while (stop < end && !(free && lambda[stop] == 0))
                    ++stop;
                if (stop > l)
                    solve_some(n, columns, h2, joined, sign, lambda + l, x + l, stop - l, factors);
                for (l = stop; l < end && free && lambda[l] == 0; ++l)
                    solve_singular(n, columns, h2, joined, x + l);
            }
        }
    }
}

} // namespace fathometer::flow
