#include "stretch.hpp"

#include <algorithm>

#include "derivative.hpp"
#include "dispatch.hpp"
#include "row.hpp"

namespace fathometer {

namespace {

// One filter a cell along z; one a row across.
template <bool AlongRow, class T> Vector<T> filter_at(const Lanes<T> &part, const T *filter, int64_t k) {
    return AlongRow ? part.load(filter + k) : all_lanes(filter[0]);
}

// First derivative at the half points behind a vector of cells, from 2 S rows or neighbours.
template <int S, class T>
[[gnu::always_inline]] inline Vector<T> half_points(const T *f, int64_t stride, const T *weight) {
    Vector<T> sum = all_lanes(weight[0]) * (load(f + stride) - load(f));
#pragma GCC unroll 4
    for (int m = 1; m < S; ++m)
        sum = madd(all_lanes(weight[m]), load(f + (m + 1) * stride) - load(f - m * stride), sum);
    return sum;
}

// psi = decay psi + gain d w in the half points of row (i, j) from k0 to k1. Along z the half points and their filters
// follow one another in the row; across, the whole row is one half point of the layer's axis.
template <int R, bool AlongRow, class T>
void advance_psi(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t k0, int64_t k1) {
    constexpr int S = (R + 1) / 2;
    const int64_t half[3] = {i, j, 0}, first = half[layer.axis] - layer.half_lo;
    const int64_t stride = AlongRow ? 1 : w.stride[layer.axis];
    const T *f = w.now(w.field_of(layer.axis)) + w.at(i, j);
    const T *gain = layer.psi_gain + first, *decay = layer.psi_decay + first;
    T *psi = layer.psi_row(i, j);
    for (int64_t k = k0; k < k1; k += lanes<T>) {
        const Lanes<T> part(k, k0, k1);
        const Vector<T> slope = half_points<S>(f + k, stride, w.staggered[layer.axis]);
        part.store(psi + k, madd(filter_at<AlongRow>(part, decay, k), part.load(psi + k),
                                 filter_at<AlongRow>(part, gain, k) * slope));
    }
}

// What a layer adds to the derivative along its axis in the cells k0..k1 of row (i, j): slope + zeta, slope = -d^T psi,
// zeta = decay zeta + gain (L w + slope). Put into `sum`, or added to it.
template <int R, bool AlongRow, class T>
void stretch_row(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t k0, int64_t k1, T *sum,
                 bool add) {
    constexpr int S = (R + 1) / 2;
    const int64_t cell[3] = {i, j, 0}, first = cell[layer.axis] - layer.cell_lo;
    const int64_t stride = AlongRow ? 1 : w.stride[layer.axis], back = AlongRow ? 1 : layer.psi_stride[layer.axis];
    const T *f = w.now(w.field_of(layer.axis)) + w.at(i, j);
    const T *gain = layer.zeta_gain + first, *decay = layer.zeta_decay + first, *psi = layer.psi_row(i, j);
    T *zeta = layer.zeta_row(i, j);
    const Weights<R, T> weights(w.weights[layer.axis]);
    for (int64_t k = k0; k < k1; k += lanes<T>) {
        const Lanes<T> part(k, k0, k1);
        const Vector<T> slope = half_points<S>(psi + k - back, back, w.staggered[layer.axis]);
        const Vector<T> curvature = across<R>(f + k, stride, load(f + k), weights);
        const Vector<T> memory = madd(filter_at<AlongRow>(part, decay, k), part.load(zeta + k),
                                      filter_at<AlongRow>(part, gain, k) * (curvature + slope));
        part.store(zeta + k, memory);
        part.store(sum + k, add ? part.load(sum + k) + (slope + memory) : slope + memory);
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

template <class Row> void for_each_row(const Box &box, Row row) {
    for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
        for (int64_t j = box.lo[1]; j < box.hi[1]; ++j)
            row(i, j);
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
            for_each_row(box, [&](int64_t i, int64_t j) {
                if (layer.axis == 2)
                    advance_psi<R, true>(w, layer, i, j, box.lo[2], box.hi[2]);
                else
                    advance_psi<R, false>(w, layer, i, j, box.lo[2], box.hi[2]);
            });
        }
    });
}

template <class T>
Stretches<T>::Stretches(const Wavefield<T> &w, int64_t rows)
    : pitch(w.n[2] + 2 * lanes<T>), low(0), high(w.n[2]), filled(rows) {
    if (w.layers.empty())
        return;
    h.resize(rows * pitch);
    l.resize(rows * pitch);
    for (const Layer<T> &layer : w.layers) // one at either end; they may overlap
        if (layer.axis == 2 && layer.cell_lo == 0)
            low = std::max(low, layer.cell_hi);
        else if (layer.axis == 2)
            high = std::min(high, layer.cell_lo);
}

template <class T> template <int R> void Stretches<T>::prepare_with(const Wavefield<T> &w) {
    // One layer after the other: what a row has just stored, it would have to wait for.
    int64_t summed_lo = 0, summed_hi = 0; // cells of an earlier layer along z
    for (const Layer<T> &layer : w.layers) {
        Box box = block;
        box.lo[layer.axis] = std::max(box.lo[layer.axis], layer.cell_lo);
        box.hi[layer.axis] = std::min(box.hi[layer.axis], layer.cell_hi);
        if (layer.axis < 2) {
            for_each_row(box, [&](int64_t i, int64_t j) {
                const int64_t n = index(i, j);
                stretch_row<R, false>(w, layer, i, j, box.lo[2], box.hi[2], h.data() + n * pitch, filled[n]);
                filled[n] = true;
            });
            continue;
        }
        if (layer.in_row)
            for_each_row(
                box, [&](int64_t i, int64_t j) { advance_psi<R, true>(w, layer, i, j, layer.half_lo, layer.half_hi); });
        const int64_t k0 = box.lo[2], k3 = std::max(box.hi[2], k0), k1 = std::clamp(summed_lo, k0, k3),
                      k2 = std::clamp(summed_hi, k1, k3); // both layers' cells: k1 to k2
        for_each_row(box, [&](int64_t i, int64_t j) {
            T *sum = l.data() + index(i, j) * pitch;
            stretch_row<R, true>(w, layer, i, j, k0, k1, sum, false);
            stretch_row<R, true>(w, layer, i, j, k1, k2, sum, true);
            stretch_row<R, true>(w, layer, i, j, k2, k3, sum, false);
        });
        summed_lo = layer.cell_lo;
        summed_hi = layer.cell_hi;
    }
}

template <class T> void Stretches<T>::prepare(const Wavefield<T> &w, const Box &box) {
    block = box;
    std::fill(filled.begin(), filled.end(), false);
    with_radius(w.radius, [&]<int R>() { prepare_with<R>(w); });
}

template bool needs_halves<float>(const Wavefield<float> &, const Part &);
template bool needs_halves<double>(const Wavefield<double> &, const Part &);
template void advance_halves<float>(const Wavefield<float> &, const Part &, int64_t, int64_t);
template void advance_halves<double>(const Wavefield<double> &, const Part &, int64_t, int64_t);
template class Stretches<float>;
template class Stretches<double>;

} // namespace fathometer
