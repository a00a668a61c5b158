// Columns side by side: as many as a vector has lanes, so that recurrences along z become vectors.
#pragma once

#include <utility>
#include <vector>

#include "core/simd.hpp"

namespace fathometer::ocean {

constexpr int width = lanes<double>;
using Lanes = Vector<double>;

inline int64_t padded(int64_t levels) { return (levels + width - 1) / width * width; }

template <int S, int... L>
[[gnu::always_inline]] inline void exchange(Lanes &a, Lanes &b, std::integer_sequence<int, L...>) {
    const Lanes low = __builtin_shufflevector(a, b, ((L & S) ? width + L - S : L)...);
    b = __builtin_shufflevector(a, b, ((L & S) ? width + L : L + S)...);
    a = low;
}

template <int S> [[gnu::always_inline]] inline void transpose_blocks(Lanes *rows) {
    if constexpr (S < width) {
        for (int i = 0; i < width; ++i)
            if (!(i & S))
                exchange<S>(rows[i], rows[i + S], std::make_integer_sequence<int, width>());
        transpose_blocks<2 * S>(rows);
    }
}

// From columns (width, stride) to levels (n, width), n a multiple of width; and back.
inline void to_lanes(const double *columns, int64_t stride, int64_t n, Lanes *levels) {
    for (int64_t k = 0; k < n; k += width) {
        Lanes rows[width];
        for (int l = 0; l < width; ++l)
            rows[l] = load(columns + l * stride + k);
        transpose_blocks<1>(rows);
        for (int l = 0; l < width; ++l)
            levels[k + l] = rows[l];
    }
}

inline void from_lanes(const Lanes *levels, int64_t n, double *columns, int64_t stride) {
    for (int64_t k = 0; k < n; k += width) {
        Lanes rows[width];
        for (int l = 0; l < width; ++l)
            rows[l] = levels[k + l];
        transpose_blocks<1>(rows);
        for (int l = 0; l < width; ++l)
            store(columns + l * stride + k, rows[l]);
    }
}

[[gnu::always_inline]] inline Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }
[[gnu::always_inline]] inline Lanes magnitude(Lanes a) { return a < 0 ? -a : a; }

// Sum of a[k] b[k], k < n, in an order that depends on n alone.
inline double sum_of_products(const double *a, const double *b, int64_t n) {
    double part[8] = {};
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        for (int l = 0; l < 8; ++l)
            part[l] += a[k + l] * b[k + l];
    for (int l = 0; k < n; ++k, ++l)
        part[l] += a[k] * b[k];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

} // namespace fathometer::ocean
