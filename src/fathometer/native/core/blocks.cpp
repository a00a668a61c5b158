#include "blocks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "simd.hpp"
#include "team.hpp"

namespace fathometer {

namespace {

template <class Q> constexpr float largest = 1;
template <> constexpr float largest<int8_t> = 127;

void encode_row(const float *__restrict scaled, int64_t n, int8_t *__restrict to) {
    for (int64_t k = 0; k < n; ++k) // to the nearest: conversion cuts off
        to[k] = int8_t(int(scaled[k] + (scaled[k] < 0 ? -0.5f : 0.5f)));
}

void decode_row(const int8_t *__restrict from, int64_t n, float *__restrict scaled) {
    for (int64_t k = 0; k < n; ++k)
        scaled[k] = float(from[k]);
}

void encode_row(const float *scaled, int64_t n, Half *to) { to_halves(scaled, n, &to->bits); }

void decode_row(const Half *from, int64_t n, float *scaled) { from_halves(&from->bits, n, scaled); }

// The larger one of two magnitudes; NaN is larger than all. As integers they have the same order.
float larger(float a, float b) {
    return std::bit_cast<float>(std::max(std::bit_cast<uint32_t>(a), std::bit_cast<uint32_t>(b)));
}

// Zero where the block's scale is not finite: what is no number has no integer, and its block is decoded as NaN.
void blank(const float *scales, int64_t nz, float *scaled) {
    for (int64_t b = 0; b < blocks_of(nz); ++b)
        if (!std::isfinite(scales[b]))
            std::fill(scaled + b * block_side, scaled + std::min((b + 1) * block_side, nz), 0.0f);
}

// Calls row_of_blocks(first row of cells along x, y; their ends) for all of them, shared by a new team.
template <class Work> void for_rows_of_blocks(const int64_t n[3], Work row_of_blocks) {
    const int64_t bx = blocks_of(n[0]), by = blocks_of(n[1]);
    in_team([&] {
        std::vector<float> factors(n[2]), scaled(n[2]);
#pragma omp for collapse(2) schedule(static)
        for (int64_t x = 0; x < bx; ++x)
            for (int64_t y = 0; y < by; ++y)
                row_of_blocks(x * block_side, std::min((x + 1) * block_side, n[0]), y * block_side,
                              std::min((y + 1) * block_side, n[1]), (x * by + y) * blocks_of(n[2]), factors.data(),
                              scaled.data());
    });
}

// factors[k] = f(scale of the block that holds k)
template <class F> void spread(const float *scales, int64_t nz, float *factors, F f) {
    for (int64_t b = 0; b < blocks_of(nz); ++b)
        std::fill(factors + b * block_side, factors + std::min((b + 1) * block_side, nz), f(scales[b]));
}

} // namespace

template <class T, class Q> void encode_blocks(const T *volume, const int64_t n[3], Q *encoded, float *scales) {
    const int64_t ny = n[1], nz = n[2];
    for_rows_of_blocks(n, [=](int64_t x0, int64_t x1, int64_t y0, int64_t y1, int64_t first, float *__restrict factors,
                              float *__restrict scaled) {
        std::fill(factors, factors + nz, 0.0f);
        for (int64_t i = x0; i < x1; ++i)
            for (int64_t j = y0; j < y1; ++j) {
                const T *__restrict row = volume + (i * ny + j) * nz;
                for (int64_t k = 0; k < nz; ++k)
                    factors[k] = larger(std::fabs(float(row[k])), factors[k]);
            }
        bool finite = true;
        for (int64_t b = 0; b < blocks_of(nz); ++b) {
            float scale = 0;
            for (int64_t k = b * block_side; k < std::min((b + 1) * block_side, nz); ++k)
                scale = larger(factors[k], scale);
            scales[first + b] = scale;
            finite &= std::isfinite(scale);
        }
        // A scale whose inverse overflows is that of cells that are next to nothing: they become 0.
        spread(scales + first, nz, factors, [](float scale) {
            return scale > 2 * largest<Q> / std::numeric_limits<float>::max() ? largest<Q> / scale : 0.0f;
        });
        for (int64_t i = x0; i < x1; ++i)
            for (int64_t j = y0; j < y1; ++j) {
                const int64_t start = (i * ny + j) * nz;
                const T *__restrict row = volume + start;
                for (int64_t k = 0; k < nz; ++k)
                    scaled[k] = float(row[k]) * factors[k];
                if (!finite)
                    blank(scales + first, nz, scaled);
                encode_row(scaled, nz, encoded + start);
            }
    });
}

template <class T, class Q> void decode_blocks(const Q *encoded, const float *scales, const int64_t n[3], T *volume) {
    const int64_t ny = n[1], nz = n[2];
    for_rows_of_blocks(n, [=](int64_t x0, int64_t x1, int64_t y0, int64_t y1, int64_t first, float *__restrict factors,
                              float *__restrict scaled) {
        spread(scales + first, nz, factors, [](float scale) { return scale / largest<Q>; });
        for (int64_t i = x0; i < x1; ++i)
            for (int64_t j = y0; j < y1; ++j) {
                const int64_t start = (i * ny + j) * nz;
                T *__restrict row = volume + start;
                decode_row(encoded + start, nz, scaled);
                for (int64_t k = 0; k < nz; ++k)
                    row[k] = T(scaled[k] * factors[k]);
            }
    });
}

template void encode_blocks(const float *, const int64_t[3], int8_t *, float *);
template void encode_blocks(const double *, const int64_t[3], int8_t *, float *);
template void encode_blocks(const float *, const int64_t[3], Half *, float *);
template void encode_blocks(const double *, const int64_t[3], Half *, float *);
template void decode_blocks(const int8_t *, const float *, const int64_t[3], float *);
template void decode_blocks(const int8_t *, const float *, const int64_t[3], double *);
template void decode_blocks(const Half *, const float *, const int64_t[3], float *);
template void decode_blocks(const Half *, const float *, const int64_t[3], double *);

} // namespace fathometer
