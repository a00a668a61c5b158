// Centred second derivative of order 2R along one axis: weight[0] f + sum_r weight[r] (f[+r] + f[-r]).
// The pairs are added first, so that an odd field gives exactly zero at its point of symmetry.
#pragma once

#include <cstdint>

namespace fathometer {

template <int R, class T>
inline T second_derivative(const T *__restrict f, std::int64_t stride, const T *weight) {
    T sum = weight[0] * f[0];
    for (int r = 1; r <= R; ++r)
        sum += weight[r] * (f[r * stride] + f[-r * stride]);
    return sum;
}

} // namespace fathometer
