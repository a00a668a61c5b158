// Centred differences, written so that an odd field gives exactly zero at its point of symmetry.
#pragma once

#include <cstdint>

#include "arithmetic.hpp"

namespace fathometer {

// Second derivative of order 2R: weight[0] f + sum_r weight[r] (f[+r] + f[-r]).
template <int R, class T>
[[gnu::always_inline]] inline T second_derivative(const T *__restrict f, std::int64_t stride, const T *weight) {
    T sum = weight[0] * f[0];
    for (int r = 1; r <= R; ++r)
        sum = madd(weight[r], f[r * stride] + f[-r * stride], sum);
    return sum;
}

// First derivative half a cell further on, of order 2S, from S pairs of cells.
template <int S, class T>
[[gnu::always_inline]] inline T half_point(const T *__restrict f, std::int64_t stride, const T *weight) {
    T sum = weight[0] * (f[stride] - f[0]);
    for (int m = 1; m < S; ++m)
        sum = madd(weight[m], f[(m + 1) * stride] - f[-m * stride], sum);
    return sum;
}

} // namespace fathometer
