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

// psi = decay psi + gain d w in the half points of row (i, j) from k0 to k1. Along z the half points and their filters
// follow one another in the row; across, the whole row is one half point of the layer's axis.
template <int R, bool AlongRow, class T>
inline void advance_psi(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t k0, int64_t k1) {
    constexpr int S = (R + 1) / 2;
    const int64_t half[3] = {i, j, 0}, first = half[layer.axis] - layer.half_lo;
    const int64_t stride = AlongRow ? 1 : w.stride[layer.axis];
    const T *__restrict f = w.now(w.field_of(layer.axis)) + w.at(i, j);
    const T *__restrict gain = layer.psi_gain + first, *__restrict decay = layer.psi_decay + first;
    const T *weight = w.staggered[layer.axis];
    T *__restrict psi = layer.psi_row(i, j);
#pragma omp simd
    for (int64_t k = k0; k < k1; ++k) {
        const int64_t filter = AlongRow ? k : 0;
        psi[k] = madd(decay[filter], psi[k], gain[filter] * half_point<S>(f + k, stride, weight));
    }
}

// Add to "next" what a layer changes in the cells k0..k1 of row (i, j): M applied to slope + zeta on the layer's axis,
// slope = -d^T psi, zeta = decay zeta + gain (L w + slope). F fields.
template <int R, int F, bool AlongRow, class T>
inline void add_stretch(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t k0, int64_t k1) {
    constexpr int S = (R + 1) / 2;
    const int64_t cell[3] = {i, j, 0}, first = cell[layer.axis] - layer.cell_lo;
    const int64_t stride = AlongRow ? 1 : w.stride[layer.axis], back = AlongRow ? 1 : layer.psi_stride[layer.axis];
    const int field = w.field_of(layer.axis);
    const T *__restrict f = w.now(field) + w.at(i, j);
    const T *__restrict gain = layer.zeta_gain + first, *__restrict decay = layer.zeta_decay + first;
    const T *weight = w.weights[layer.axis], *staggered = w.staggered[layer.axis];
    const T *__restrict psi = layer.psi_row(i, j);
    T *__restrict zeta = layer.zeta_row(i, j);
    // The column of M that belongs to the axis: m11, m12 for x and y, m12, m22 for z.
    const T *__restrict m0 = w.model[field] + w.model_at(i, j), *__restrict m1 =
                                                                    w.model[field + F - 1] + w.model_at(i, j);
    T *__restrict next0 = w.next(0) + w.at(i, j), *__restrict next1 = w.next(F - 1) + w.at(i, j);
#pragma omp simd
    for (int64_t k = k0; k < k1; ++k) {
        const int64_t filter = AlongRow ? k : 0;
        const T slope = half_point<S>(psi + k - back, back, staggered);
        const T curvature = second_derivative<R>(f + k, stride, weight);
        zeta[k] = madd(decay[filter], zeta[k], gain[filter] * (curvature + slope));
        next0[k] = madd(m0[k], slope + zeta[k], next0[k]);
        if constexpr (F == 2)
            next1[k] = madd(m1[k], slope + zeta[k], next1[k]);
    }
}

// All layers' parts of the cells of a box, right after its rows were swept, while they are in the cache. One layer
// after the other, so that the short pieces of rows along z follow each other without waiting. Every owned cell must be
// passed exactly once a step, after the psi around it that no row advances by itself.
template <int R, int F, class T> inline void add_layers(const Wavefield<T> &w, const Box &box) {
    for (const Layer<T> &layer : w.layers) {
        int64_t lo[3] = {box.lo[0], box.lo[1], box.lo[2]}, hi[3] = {box.hi[0], box.hi[1], box.hi[2]};
        lo[layer.axis] = std::max(lo[layer.axis], layer.cell_lo);
        hi[layer.axis] = std::min(hi[layer.axis], layer.cell_hi);
        if (layer.in_row)
            for (int64_t i = lo[0]; i < hi[0]; ++i)
                for (int64_t j = lo[1]; j < hi[1]; ++j)
                    advance_psi<R, true>(w, layer, i, j, layer.half_lo, layer.half_hi);
        for (int64_t i = lo[0]; i < hi[0]; ++i)
            for (int64_t j = lo[1]; j < hi[1]; ++j)
                if (layer.axis == 2)
                    add_stretch<R, F, true>(w, layer, i, j, lo[2], hi[2]);
                else
                    add_stretch<R, F, false>(w, layer, i, j, lo[2], hi[2]);
    }
}

// By a team: advance the psi of a layer in its half points lo..hi from the field "now".
template <class T> void stretch(const Wavefield<T> &w, const Layer<T> &layer, int64_t lo, int64_t hi);

} // namespace fathometer
