#include "pml.hpp"

#include <algorithm>
#include <utility>

#include "core/derivative.hpp"
#include "core/dispatch.hpp"
#include "core/lanes.hpp"
#include "core/physics.hpp"

namespace fathometer::acoustic {

namespace {

// One filter a cell along z; one a row across.
template <bool AlongRow, class Part, class T> Vector<T> filter_at(const Part &part, const T *filter, int64_t k) {
    return AlongRow ? part.load(filter + k) : all_lanes(filter[0]);
}

// The weights of a first derivative in all lanes, S pairs.
template <int S, class T> struct Staggered {
    Vector<T> w[S];
    explicit Staggered(const T *weight) {
        for (int m = 0; m < S; ++m)
            w[m] = all_lanes(weight[m]);
    }
};

// First derivative at the half points behind a vector of cells, from 2 S rows or neighbours.
template <int S, class T>
[[gnu::always_inline]] inline Vector<T> half_points(const T *f, int64_t stride, const Staggered<S, T> &weights) {
    Vector<T> sum = weights.w[0] * (load(f + stride) - load(f));
#pragma GCC unroll 4
    for (int m = 1; m < S; ++m)
        sum = madd(weights.w[m], load(f + (m + 1) * stride) - load(f - m * stride), sum);
    return sum;
}

template <class Row> [[gnu::always_inline]] inline void for_each_row(const Box &box, Row row) {
    for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
        for (int64_t j = box.lo[1]; j < box.hi[1]; ++j)
            row(i, j);
}

// Vectors from k0 on, whole ones and what is left; a layer begins and ends anywhere.
template <class T, class Body> [[gnu::always_inline]] inline void for_each_vector(int64_t k0, int64_t k1, Body body) {
    int64_t k = k0;
    for (; k + lanes<T> <= k1; k += lanes<T>)
        body(k, Lanes<T, true>(k, k0, k1));
    if (k < k1)
        body(k, Lanes<T, false>(k, k0, k1));
}

// psi = decay psi + gain d w in the half points of a box, given along the layer's axis in half points. Along z the half
// points and their filters follow one another in the row; across, the whole row is one half point of the layer's axis.
template <int R, bool AlongRow, class T>
void advance_psi(const Wavefield<T> &w, const Pml<T> &pml, const Layer<T> &layer, const Box &box) {
    constexpr int S = (R + 1) / 2;
    const Staggered<S, T> weights(pml.staggered[layer.axis]);
    const int64_t stride = AlongRow ? 1 : w.stride[layer.axis], k0 = box.lo[2], k1 = box.hi[2];
    for_each_row(box, [&](int64_t i, int64_t j) {
        const int64_t half[3] = {i, j, 0}, first = half[layer.axis] - layer.half_lo;
        const T *f = w.now(w.physics->differentiated[layer.axis]) + w.at(i, j);
        const T *gain = layer.psi_gain + first, *decay = layer.psi_decay + first;
        T *psi = layer.psi_row(i, j);
        for_each_vector<T>(k0, k1, [&](int64_t k, const auto &part) {
            const Vector<T> slope = half_points<S>(f + k, stride, weights);
            part.store(psi + k, madd(filter_at<AlongRow>(part, decay, k), part.load(psi + k),
                                     filter_at<AlongRow>(part, gain, k) * slope));
        });
    });
}

// What a layer adds to the derivative along its axis in the cells of a box: slope + zeta, slope = -d^T psi,
// zeta = decay zeta + gain (L w + slope). Put into the row that sum_of(i, j) gives, or added where add_to(i, j).
template <int R, bool AlongRow, class T, class SumOf, class AddTo>
void absorb_rows(const Wavefield<T> &w, const Pml<T> &pml, const Layer<T> &layer, const Box &box, SumOf sum_of,
                 AddTo add_to) {
    constexpr int S = (R + 1) / 2;
    const Weights<R, T> weights(w.weights[layer.axis]);
    Rows<R, T> rows(w.stride[layer.axis % 2]);
    const Staggered<S, T> staggered(pml.staggered[layer.axis]);
    const int64_t back = AlongRow ? 1 : layer.psi_stride[layer.axis], k0 = box.lo[2], k1 = box.hi[2];
    for_each_row(box, [&](int64_t i, int64_t j) {
        const int64_t cell[3] = {i, j, 0}, first = cell[layer.axis] - layer.cell_lo;
        const T *f = w.now(w.physics->differentiated[layer.axis]) + w.at(i, j);
        const T *gain = layer.zeta_gain + first, *decay = layer.zeta_decay + first, *psi = layer.psi_row(i, j);
        T *zeta = layer.zeta_row(i, j), *sum = sum_of(i, j);
        const bool add = add_to(i, j);
        for_each_vector<T>(k0, k1, [&](int64_t k, const auto &part) {
            const Vector<T> slope = half_points<S>(psi + k - back, back, staggered);
            rows.forget_multiples();
            const Vector<T> curvature =
                AlongRow ? beside<R>(f + k, weights) : across<R>(rows.first(f) + k, f + k, rows, load(f + k), weights);
            const Vector<T> memory = madd(filter_at<AlongRow>(part, decay, k), part.load(zeta + k),
                                          filter_at<AlongRow>(part, gain, k) * (curvature + slope));
            part.store(zeta + k, memory);
            part.store(sum + k, add ? part.load(sum + k) + (slope + memory) : slope + memory);
        });
    });
}

// A part's half points of a layer: an empty box where it has none.
template <class T> Box halves_of(const Layer<T> &layer, const Part &part) {
    Box box = part.cells;
    box.lo[layer.axis] = std::max(part.halves.lo[layer.axis], layer.half_lo);
    box.hi[layer.axis] = std::min(part.halves.hi[layer.axis], layer.half_hi);
    return box;
}

bool is_empty(const Box &box) { return box.lo[0] >= box.hi[0] || box.lo[1] >= box.hi[1] || box.lo[2] >= box.hi[2]; }

} // namespace

template <class T> bool has_half_points(const Pml<T> &pml, const Part &part) {
    return std::any_of(pml.layers.begin(), pml.layers.end(),
                       [&](const Layer<T> &layer) { return !layer.in_row && !is_empty(halves_of(layer, part)); });
}

template <class T>
void advance_half_points(const Wavefield<T> &w, const Pml<T> &pml, const Part &part, int64_t member, int64_t members) {
    with_radius(w.radius, [&]<int R>() {
        for (const Layer<T> &layer : pml.layers) {
            const Box all = halves_of(layer, part);
            if (layer.in_row || is_empty(all))
                continue;
            const Box box = share(all, all.hi[0] - all.lo[0] >= all.hi[1] - all.lo[1] ? 0 : 1, member, members);
            layer.axis == 2 ? advance_psi<R, true>(w, pml, layer, box) : advance_psi<R, false>(w, pml, layer, box);
        }
    });
}

template <class T>
PmlRows<T>::PmlRows(const Wavefield<T> &w, const Pml<T> &pml, int64_t rows)
    : pml(pml), pitch(w.n[2] + 2 * lanes<T>), low(0), high(w.n[2]), filled(rows) {
    if (pml.layers.empty())
        return;
    h.resize(rows * pitch);
    l.resize(rows * pitch);
    for (const Layer<T> &layer : pml.layers) // one at either end; they may overlap
        if (layer.axis == 2 && layer.cell_lo == 0)
            low = std::max(low, layer.cell_hi);
        else if (layer.axis == 2)
            high = std::min(high, layer.cell_lo);
}

template <class T> template <int R> void PmlRows<T>::prepare_with(const Wavefield<T> &w) {
    // One layer after the other: what a row has just stored, it would have to wait for.
    int64_t summed_lo = 0, summed_hi = 0; // cells of an earlier layer along z
    for (const Layer<T> &layer : pml.layers) {
        Box box = block;
        box.lo[layer.axis] = std::max(box.lo[layer.axis], layer.cell_lo);
        box.hi[layer.axis] = std::max(std::min(box.hi[layer.axis], layer.cell_hi), box.lo[layer.axis]);
        if (layer.axis < 2) {
            absorb_rows<R, false>(
                w, pml, layer, box, [&](int64_t i, int64_t j) { return h.data() + index(i, j) * pitch; },
                [&](int64_t i, int64_t j) { return std::exchange(filled[index(i, j)], true); });
            continue;
        }
        if (layer.in_row)
            advance_psi<R, true>(w, pml, layer,
                                 {{box.lo[0], box.lo[1], layer.half_lo}, {box.hi[0], box.hi[1], layer.half_hi}});
        const int64_t k0 = box.lo[2], k3 = box.hi[2], k1 = std::clamp(summed_lo, k0, k3),
                      k2 = std::clamp(summed_hi, k1, k3); // both layers' cells: k1 to k2
        auto part = [&](int64_t lo, int64_t hi, bool add) {
            if (lo < hi)
                absorb_rows<R, true>(
                    w, pml, layer, {{box.lo[0], box.lo[1], lo}, {box.hi[0], box.hi[1], hi}},
                    [&](int64_t i, int64_t j) { return l.data() + index(i, j) * pitch; },
                    [add](int64_t, int64_t) { return add; });
        };
        part(k0, k1, false);
        part(k1, k2, true);
        part(k2, k3, false);
        summed_lo = layer.cell_lo;
        summed_hi = layer.cell_hi;
    }
}

template <class T> void PmlRows<T>::prepare(const Wavefield<T> &w, const Box &box) {
    block = box;
    std::fill(filled.begin(), filled.end(), false);
    with_radius(w.radius, [&]<int R>() { prepare_with<R>(w); });
}

template bool has_half_points(const Pml<float> &, const Part &);
template bool has_half_points(const Pml<double> &, const Part &);
template void advance_half_points(const Wavefield<float> &, const Pml<float> &, const Part &, int64_t, int64_t);
template void advance_half_points(const Wavefield<double> &, const Pml<double> &, const Part &, int64_t, int64_t);
template class PmlRows<float>;
template class PmlRows<double>;

} // namespace fathometer::acoustic
