#include "stretch.hpp"

#include <algorithm>

#include "derivative.hpp"
#include "dispatch.hpp"

namespace fathometer {

namespace {

// psi = decay psi + gain d w in the half points of row (i, j) from k0 to k1. Along z the half points and their filters
// follow one another in the row; across, the whole row is one half point of the layer's axis.
template <int R, bool AlongRow, class T>
void advance_psi(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t k0, int64_t k1) {
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
void add_stretch(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t k0, int64_t k1) {
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

// A part's half points of a layer: an empty box where it has none.
template <class T> Box halves_of(const Layer<T> &layer, const Part &part) {
    Box box = part.cells;
    box.lo[layer.axis] = std::max(part.halves.lo[layer.axis], layer.half_lo);
    box.hi[layer.axis] = std::min(part.halves.hi[layer.axis], layer.half_hi);
    return box;
}

bool is_empty(const Box &box) { return box.lo[0] >= box.hi[0] || box.lo[1] >= box.hi[1] || box.lo[2] >= box.hi[2]; }

// One layer after the other, so that the short pieces of rows along z follow each other without waiting.
template <int R, int F, class T> void add_all(const Wavefield<T> &w, const Box &box) {
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

} // namespace

template <class T> bool needs_halves(const Wavefield<T> &w, const Part &part) {
    return std::any_of(w.layers.begin(), w.layers.end(),
                       [&](const Layer<T> &layer) { return !layer.in_row && !is_empty(halves_of(layer, part)); });
}

template <class T> void advance_halves(const Wavefield<T> &w, const Part &part, int64_t member, int64_t members) {
    with_radius(w.radius, [&]<int R>() {
        for (const Layer<T> &layer : w.layers) {
            const Box all = halves_of(layer, part);
            if (layer.in_row || is_empty(all))
                continue;
            const Box box = share(all, all.hi[0] - all.lo[0] >= all.hi[1] - all.lo[1] ? 0 : 1, member, members);
            for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
                for (int64_t j = box.lo[1]; j < box.hi[1]; ++j)
                    if (layer.axis == 2)
                        advance_psi<R, true>(w, layer, i, j, box.lo[2], box.hi[2]);
                    else
                        advance_psi<R, false>(w, layer, i, j, box.lo[2], box.hi[2]);
        }
    });
}

template <class T> void add_layers(const Wavefield<T> &w, const Box &box) {
    with_radius(w.radius, [&]<int R>() { w.fields == 2 ? add_all<R, 2>(w, box) : add_all<R, 1>(w, box); });
}

template bool needs_halves<float>(const Wavefield<float> &, const Part &);
template bool needs_halves<double>(const Wavefield<double> &, const Part &);
template void advance_halves<float>(const Wavefield<float> &, const Part &, int64_t, int64_t);
template void advance_halves<double>(const Wavefield<double> &, const Part &, int64_t, int64_t);
template void add_layers<float>(const Wavefield<float> &, const Box &);
template void add_layers<double>(const Wavefield<double> &, const Box &);

} // namespace fathometer
