// Absorbing layers by complex stretching of the coordinate.
//
//   d2w/dx2  ->  (1/s) d/dx (1/s) dw/dx,   1/s = 1 - eta / (i omega + eta + alpha)
//
// for each axis by itself (Komatitsch & Martin 2007, Geophysics 72(5); for second-order equations Pasalic & McGarry
// 2010, SEG). In time 1/s is 1 plus a recursive filter g, q -> memory, memory = decay * memory + gain * q. With L the
// centred second derivative of order 2R and d the first derivative at half points,
//
//   (1/s) D (1/s) D w  =  (1 + g) [ L w - d^T (g d w) ]
//
// d reaches (R+1)/2 points, so that the two of them together stay within the stencil's reach R: the layer needs no
// wider halo than the interior. d^T g d is symmetric whatever g does in time; times s, the whole operator is
// symmetric at every frequency, and so F* remains F run on reversed time, layers included.
#pragma once

#include <algorithm>

#include "derivative.hpp"
#include "wavefield.hpp"

namespace fathometer {

// Advance the memory psi of g d w at half points [lo, hi) of a layer, from the field "now".
template <class T> void stretch(const Wavefield<T> &w, const Layer<T> &layer, int64_t lo, int64_t hi);

// The same for half points [lo, hi) of the row (i, j) of a layer of the z axis.
template <class T>
void stretch_row(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t lo, int64_t hi);

// First derivative at i+1/2 from S pairs of cells.
template <int S, class T> inline T half_point(const T *__restrict f, int64_t stride, const T *weight) {
    T sum = 0;
    for (int m = 0; m < S; ++m)
        sum += weight[m] * (f[(m + 1) * stride] - f[-m * stride]);
    return sum;
}

// What a layer adds to the second derivative along its axis, out[k], in the cells k0..k1 of row (i, j).
// Every owned cell must be passed exactly once a step, after psi was advanced around it.
template <int R, class T>
inline void add_stretch(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t k0, int64_t k1,
                        T *__restrict out) {
    constexpr int S = (R + 1) / 2;
    const int64_t place[3] = {i, j, 0};
    const int axis = layer.axis;
    if (axis == 2) {
        k0 = std::max(k0, layer.cell_lo);
        k1 = std::min(k1, layer.cell_hi);
    } else if (place[axis] < layer.cell_lo || place[axis] >= layer.cell_hi) {
        return;
    }
    const T *__restrict f = w.now(w.field_of(axis)) + w.at(i, j);
    const T *weight = w.weights[axis], *staggered = w.staggered[axis];
    const T *__restrict psi = layer.psi_row(i, j);
    T *__restrict zeta = layer.zeta_row(i, j);
    if (axis == 2) {
        const T *__restrict gain = layer.zeta_gain - layer.cell_lo, *__restrict decay = layer.zeta_decay - layer.cell_lo;
#pragma omp simd
        for (int64_t k = k0; k < k1; ++k) {
            const T slope = half_point<S>(psi + k - 1, 1, staggered);
            const T curvature = second_derivative<R>(f + k, 1, weight);
            zeta[k] = decay[k] * zeta[k] + gain[k] * (curvature + slope);
            out[k] += slope + zeta[k];
        }
    } else {
        const int64_t along = w.stride[axis], psi_along = layer.psi_stride[axis];
        const T gain = layer.zeta_gain[place[axis] - layer.cell_lo];
        const T decay = layer.zeta_decay[place[axis] - layer.cell_lo];
#pragma omp simd
        for (int64_t k = k0; k < k1; ++k) {
            const T slope = half_point<S>(psi + k - psi_along, psi_along, staggered);
            const T curvature = second_derivative<R>(f + k, along, weight);
            zeta[k] = decay * zeta[k] + gain * (curvature + slope);
            out[k] += slope + zeta[k];
        }
    }
}

// All layers' parts of one row: `horizontal` and `vertical` are the buffers of the second derivatives along x and y,
// and along z (one and the same for one field).
template <int R, class T>
inline void add_layers(const Wavefield<T> &w, int64_t i, int64_t j, int64_t k0, int64_t k1, T *horizontal,
                       T *vertical) {
    for (const Layer<T> &layer : w.layers) {
        if (layer.in_row)
            stretch_row(w, layer, i, j, layer.half_lo, layer.half_hi);
        add_stretch<R>(w, layer, i, j, k0, k1, layer.axis == 2 ? vertical : horizontal);
    }
}

} // namespace fathometer
