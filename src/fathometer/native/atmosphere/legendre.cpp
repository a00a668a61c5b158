// Legendre transforms: north and south folded, in blocks of columns that a thread packs and works on alone.
#include "atmosphere.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/denormals.hpp"
#include "core/simd.hpp"

namespace fathometer::atmosphere {

namespace {

using V = Vector<double>;

// Of the product in registers: rows, and vectors of columns, such that sums and operands fill them.
#if defined(__AVX512F__)
constexpr int64_t tall = 8, wide = 3;
#else
constexpr int64_t tall = 4, wide = 3;
#endif
constexpr int64_t block = wide * lanes<double>;

double epsilon_of(int64_t m, int64_t n) { return std::sqrt(double(n * n - m * m) / double(4 * n * n - 1)); }

// sums [tall, block] of factor(row, term) value(term), over terms.
template <int64_t N, class Factor>
[[gnu::always_inline]] inline void product(int64_t terms, const double *values, int64_t stride, Factor factor,
                                           double *sums, int64_t sums_stride) {
    V sum[N][wide] = {};
    for (int64_t term = 0; term < terms; ++term) {
        V value[wide];
        for (int64_t v = 0; v < wide; ++v)
            value[v] = load(values + term * stride + v * lanes<double>);
        for (int64_t row = 0; row < N; ++row) {
            const V f = all_lanes(factor(row, term));
            for (int64_t v = 0; v < wide; ++v)
                sum[row][v] = madd(f, value[v], sum[row][v]);
        }
    }
    for (int64_t row = 0; row < N; ++row)
        for (int64_t v = 0; v < wide; ++v)
            store(sums + row * sums_stride + v * lanes<double>, sum[row][v]);
}

// The same for any number of rows: factor(row, term).
template <class Factor>
void products(int64_t rows, int64_t terms, const double *values, int64_t stride, Factor factor, double *sums,
              int64_t sums_stride) {
    int64_t row = 0;
    for (; row + tall <= rows; row += tall)
        product<tall>(
            terms, values, stride, [=](int64_t r, int64_t t) { return factor(row + r, t); }, sums + row * sums_stride,
            sums_stride);
    for (; row < rows; ++row)
        product<1>(
            terms, values, stride, [=](int64_t r, int64_t t) { return factor(row + r, t); }, sums + row * sums_stride,
            sums_stride);
}

// Calls work(wave, first column, columns, scratch) for all blocks, in a team of threads; scratch has `size` blocks.
template <class Work> void each_block(const Sphere &sphere, int64_t columns, int64_t size, Work work) {
    const int64_t waves = int64_t(sphere.waves.size()), blocks = (columns + block - 1) / block;
#pragma omp parallel
    {
        FlushDenormals guard;
        std::vector<double> scratch(static_cast<std::size_t>(size * block));
#pragma omp for collapse(2) schedule(dynamic)
        for (int64_t wave = 0; wave < waves; ++wave)
            for (int64_t n = 0; n < blocks; ++n)
                work(std::size_t(wave), n * block, std::min(block, columns - n * block), scratch.data());
    }
}

} // namespace

Latitudes::Latitudes(int64_t count) {
    for (int64_t k = 0; k < count / 2; ++k) {
        long double x = std::cos(std::numbers::pi_v<long double> * (k + 0.75L) / (count + 0.5L)), slope = 0;
        for (int turn = 0; turn < 100; ++turn) {
            long double before = 1, value = x;
            for (int64_t n = 2; n <= count; ++n) {
                const long double next = ((2 * n - 1) * x * value - (n - 1) * before) / n;
                before = value, value = next;
            }
            slope = count * (x * value - before) / (x * x - 1);
            const long double change = value / slope;
            x -= change;
            if (std::abs(change) < 1e-19L)
                break;
        }
        sine.push_back(double(x));
        weight.push_back(double(2 / ((1 - x * x) * slope * slope)));
    }
}

Sphere::Sphere(int64_t truncation, std::vector<int64_t> own, const Latitudes &latitudes)
    : truncation(truncation), pairs(int64_t(latitudes.sine.size())), waves(std::move(own)), weight(latitudes.weight) {
    begin.push_back(0);
    for (int64_t m : waves) {
        begin.push_back(begin.back() + truncation + 2 - m);
        for (int64_t n = m; n <= truncation + 1; ++n)
            epsilon.push_back(epsilon_of(m, n));
    }
    functions.resize(static_cast<std::size_t>(rows() * pairs));
    const int64_t count = int64_t(waves.size());
#pragma omp parallel for schedule(dynamic)
    for (int64_t wave = 0; wave < count; ++wave) {
        const int64_t m = waves[wave], terms = begin[wave + 1] - begin[wave];
        double *values = functions.data() + begin[wave] * pairs;
        const auto step = [m](int64_t n) {
            return std::sqrt((long double)(n * n - m * m) / (long double)(4 * n * n - 1));
        };
        std::vector<long double> steps;
        for (int64_t n = m; n < m + terms; ++n)
            steps.push_back(step(n));
        for (int64_t p = 0; p < pairs; ++p) {
            const long double x = latitudes.sine[p], cosine = std::sqrt((1 - x) * (1 + x));
            long double before = 0, now = std::sqrt(0.5L);
            for (int64_t n = 1; n <= m; ++n)
                now *= std::sqrt((2 * n + 1) / (2.0L * n)) * cosine;
            for (int64_t k = 0; k < terms; ++k) {
                values[k * pairs + p] = double(now);
                if (k + 1 < terms) {
                    const long double next = (x * now - steps[k] * before) / steps[k + 1];
                    before = now, now = next;
                }
            }
        }
    }
}

void synthesise(const Sphere &sphere, int64_t columns, const double *coefficients, double *rings) {
    const int64_t pairs = sphere.pairs, most = sphere.truncation + 2;
    each_block(sphere, columns, most + 2 * pairs, [&](std::size_t wave, int64_t first, int64_t count, double *scratch) {
        const int64_t begin = sphere.begin[wave], terms = sphere.begin[wave + 1] - begin;
        double *even = scratch + most * block, *odd = even + pairs * block;
        for (int64_t n = 0; n < terms; ++n) {
            const double *from = coefficients + (begin + n) * columns + first;
            std::fill(std::copy(from, from + count, scratch + n * block), scratch + (n + 1) * block, 0.0);
        }
        for (int64_t parity = 0; parity < 2; ++parity) {
            const double *functions = sphere.functions.data() + (begin + parity) * pairs;
            products(
                pairs, (terms + 1 - parity) / 2, scratch + parity * block, 2 * block,
                [=](int64_t pair, int64_t term) { return functions[2 * term * pairs + pair]; }, parity ? odd : even,
                block);
        }
        for (int64_t pair = 0; pair < pairs; ++pair) {
            double *north = rings + (int64_t(wave) * pairs + pair) * 2 * columns + first, *south = north + columns;
            const double *e = even + pair * block, *o = odd + pair * block;
            for (int64_t c = 0; c < count; ++c)
                north[c] = e[c] + o[c], south[c] = e[c] - o[c];
        }
    });
}

void analyse(const Sphere &sphere, int64_t columns, const double *rings, double *coefficients) {
    const int64_t pairs = sphere.pairs, most = sphere.truncation + 2;
    each_block(sphere, columns, most + 2 * pairs, [&](std::size_t wave, int64_t first, int64_t count, double *scratch) {
        const int64_t begin = sphere.begin[wave], terms = sphere.begin[wave + 1] - begin;
        double *even = scratch + most * block, *odd = even + pairs * block;
        for (int64_t pair = 0; pair < pairs; ++pair) {
            const double *north = rings + (int64_t(wave) * pairs + pair) * 2 * columns + first,
                         *south = north + columns;
            const double weight = sphere.weight[pair];
            double *e = even + pair * block, *o = odd + pair * block;
            for (int64_t c = 0; c < count; ++c)
                e[c] = weight * (north[c] + south[c]), o[c] = weight * (north[c] - south[c]);
            std::fill(e + count, e + block, 0.0), std::fill(o + count, o + block, 0.0);
        }
        for (int64_t parity = 0; parity < 2; ++parity) {
            const double *functions = sphere.functions.data() + (begin + parity) * pairs;
            products((terms + 1 - parity) / 2, pairs, parity ? odd : even, block,
                     [=](int64_t term, int64_t pair) { return functions[2 * term * pairs + pair]; },
                     scratch + parity * block, 2 * block);
        }
        for (int64_t n = 0; n < terms; ++n) {
            const double *from = scratch + n * block;
            std::copy(from, from + count, coefficients + (begin + n) * columns + first);
        }
    });
}

} // namespace fathometer::atmosphere
