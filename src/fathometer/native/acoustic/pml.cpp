#include "pml.hpp"

#include <algorithm>

#include "core/dispatch.hpp"
#include "core/physics.hpp"
#include "pml_kernels.hpp"

namespace fathometer::acoustic {

namespace {

// psi = decay psi + gain d w in the half points of a box, given along the layer's axis in half points. Along z the half
// points and their filters follow one another in the row; across, the whole row is one half point of the layer's axis.
template <int R, bool AlongRow, class T>
void advance_psi(const Wavefield<T> &w, const Pml<T> &pml, const Layer<T> &layer, const Box &box,
                 const ActiveRows &active) {
    constexpr int S = (R + 1) / 2;
    const Staggered<S, T> weights(pml.staggered[layer.axis]);
    const int64_t stride = AlongRow ? 1 : w.stride[layer.axis], k0 = box.lo[2], k1 = box.hi[2];
    for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
        for (int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
            if (!active.half_point(layer.axis, i, j, S))
                continue;
            const int64_t half[3] = {i, j, 0}, first = half[layer.axis] - layer.half_lo;
            const T *f = w.now(w.physics->differentiated[layer.axis]) + w.at(i, j);
            const T *gain = layer.psi_gain + first, *decay = layer.psi_decay + first;
            T *psi = layer.psi_row(i, j);
            for_each_vector<T>(k0, k1, [&](int64_t k, const auto &part) {
                const Vector<T> slope = half_points<S>(f + k, stride, weights);
                part.store(psi + k, madd(filter_at<AlongRow>(part, decay, k), part.load(psi + k),
                                         filter_at<AlongRow>(part, gain, k) * slope));
            });
        }
}

// A layer's share of a box of half points.
template <class T> Box in_layer(const Layer<T> &layer, Box box) {
    box.lo[layer.axis] = std::max(box.lo[layer.axis], layer.half_lo);
    box.hi[layer.axis] = std::min(box.hi[layer.axis], layer.half_hi);
    return box;
}

bool is_empty(const Box &box) { return box.lo[0] >= box.hi[0] || box.lo[1] >= box.hi[1] || box.lo[2] >= box.hi[2]; }

} // namespace

template <class T> bool has_half_points(const Pml<T> &pml, int axis, const Box &box) {
    return std::any_of(pml.layers.begin(), pml.layers.end(), [&](const Layer<T> &layer) {
        return layer.axis == axis && !layer.in_row && !is_empty(in_layer(layer, box));
    });
}

template <class T>
void advance_half_points(const Wavefield<T> &w, const Pml<T> &pml, int axis, const Box &box, const ActiveRows &active,
                         int64_t member, int64_t members) {
    with_radius(w.radius, [&]<int R>() {
        for (const Layer<T> &layer : pml.layers) {
            const Box all = in_layer(layer, box);
            if (layer.axis != axis || layer.in_row || is_empty(all))
                continue;
            const Box mine = share(all, all.hi[0] - all.lo[0] >= all.hi[1] - all.lo[1] ? 0 : 1, member, members);
            axis == 2 ? advance_psi<R, true>(w, pml, layer, mine, active)
                      : advance_psi<R, false>(w, pml, layer, mine, active);
        }
    });
}

template bool has_half_points(const Pml<float> &, int, const Box &);
template bool has_half_points(const Pml<double> &, int, const Box &);
template void advance_half_points(const Wavefield<float> &, const Pml<float> &, int, const Box &, const ActiveRows &,
                                  int64_t, int64_t);
template void advance_half_points(const Wavefield<double> &, const Pml<double> &, int, const Box &, const ActiveRows &,
                                  int64_t, int64_t);

} // namespace fathometer::acoustic
