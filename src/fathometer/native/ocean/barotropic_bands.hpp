// Triangular solves with the bands of eight matrices at once, a lane each, and their vectors to lanes and back.
//
// Row i of a factor: L_i,i-w .. L_i,i-1, 1 / L_ii, eight lanes each, w subdiagonals; zero where there is no column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace fathometer::ocean {

constexpr int band_lanes = 8;
typedef double Eight __attribute__((vector_size(8 * band_lanes)));

[[gnu::always_inline]] inline void load_eight(Eight &to, const double *from) { std::memcpy(&to, from, sizeof to); }
[[gnu::always_inline]] inline void store_eight(double *to, const Eight &from) { std::memcpy(to, &from, sizeof from); }

// L L^T x = v, x in place of v (n, lanes). For widths known when compiling: what a row needs of others is in registers.
template <int Width> void solve_band(const double *factor, double *v, int64_t n) {
    constexpr int64_t row_size = (Width + 1) * band_lanes;
    Eight l, value, last[Width]; // of the rows before; the newest is last[Width - 1]
    for (Eight &one : last)
        one = Eight{};
    for (int64_t i = 0; i < n; ++i) {
        const double *row = factor + i * row_size;
        Eight even, odd{}; // two sums, so that additions do not wait for one another
        load_eight(even, v + i * band_lanes);
#pragma GCC unroll 17
        for (int k = 0; k < Width; ++k) {
            load_eight(l, row + k * band_lanes);
            if (k & 1)
                odd += l * last[k];
            else
                even -= l * last[k];
        }
        load_eight(l, row + Width * band_lanes);
        value = (even - odd) * l;
#pragma GCC unroll 17
        for (int k = 0; k + 1 < Width; ++k)
            last[k] = last[k + 1];
        last[Width - 1] = value;
        store_eight(v + i * band_lanes, value);
    }
    for (Eight &one : last) // what solved rows take from those below: the next one's is last[0]
        one = Eight{};
    for (int64_t i = n - 1; i >= 0; --i) {
        const double *row = factor + i * row_size;
        load_eight(value, v + i * band_lanes);
        load_eight(l, row + Width * band_lanes);
        value = (value - last[0]) * l;
        store_eight(v + i * band_lanes, value);
#pragma GCC unroll 17
        for (int k = 1; k <= Width; ++k) {
            load_eight(l, row + (Width - k) * band_lanes);
            last[k - 1] = (k < Width ? last[k < Width ? k : 0] : Eight{}) + l * value;
        }
    }
}

// The same of any width.
inline void solve_any_band(const double *factor, double *v, int64_t n, int64_t width) {
    const int64_t row_size = (width + 1) * band_lanes;
    Eight l, value, other;
    for (int64_t i = 0; i < n; ++i) {
        const double *row = factor + i * row_size;
        load_eight(value, v + i * band_lanes);
        for (int64_t k = std::min(width, i); k > 0; --k) {
            load_eight(l, row + (width - k) * band_lanes);
            load_eight(other, v + (i - k) * band_lanes);
            value -= l * other;
        }
        load_eight(l, row + width * band_lanes);
        store_eight(v + i * band_lanes, value * l);
    }
    for (int64_t i = n - 1; i >= 0; --i) {
        const double *row = factor + i * row_size;
        load_eight(value, v + i * band_lanes);
        load_eight(l, row + width * band_lanes);
        value *= l;
        store_eight(v + i * band_lanes, value);
        for (int64_t k = 1; k <= std::min(width, i); ++k) {
            load_eight(l, row + (width - k) * band_lanes);
            load_eight(other, v + (i - k) * band_lanes);
            store_eight(v + (i - k) * band_lanes, other - l * value);
        }
    }
}

// Eight rows of eight to columns.
[[gnu::always_inline]] inline void transpose(Eight (&a)[8]) {
    Eight b[8];
    for (int n = 0; n < 8; n += 2) {
        b[n] = __builtin_shufflevector(a[n], a[n + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        b[n + 1] = __builtin_shufflevector(a[n], a[n + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int n = 0; n < 8; n += 4)
        for (int m = n; m < n + 2; ++m) {
            a[m] = __builtin_shufflevector(b[m], b[m + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            a[m + 2] = __builtin_shufflevector(b[m], b[m + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int n = 0; n < 4; ++n) {
        b[n] = __builtin_shufflevector(a[n], a[n + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        b[n + 4] = __builtin_shufflevector(a[n], a[n + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    std::copy(b, b + 8, a);
}

} // namespace fathometer::ocean
