#include "pml_rows.hpp"

#include "core/physics.hpp"

namespace fathometer::acoustic {

template <int R, class T> PmlRows<R, T>::PmlRows(const Wavefield<T> &w, const Pml<T> &pml) : pml(pml) {
    layers.high = w.n[2];
    for (int side = 0; side < 2; ++side) {
        sums[side].resize(w.n[2] + 2 * lanes<T>);
        layers.along[side] = sums[side].data();
    }
    for (int axis = 0; axis < 2; ++axis) {
        clear_lo[axis] = 0;
        clear_hi[axis] = w.n[axis];
    }
    for (const Layer<T> &layer : pml.layers) {
        int64_t &lo = layer.axis < 2 ? clear_lo[layer.axis] : layers.low;
        int64_t &hi = layer.axis < 2 ? clear_hi[layer.axis] : layers.high;
        if (layer.first)
            lo = layer.cell_hi;
        else
            hi = layer.cell_lo;
        if (layer.axis < 2)
            across[layer.axis].push_back(&layer);
        else if (layer.in_row)
            ends.emplace_back(layer, sums[layer.first ? 0 : 1].data());
        else
            along.push_back(&layer);
    }
}

template <int R, class T> void PmlRows<R, T>::cross(int axis, const Box &halves, int64_t i, int64_t j) {
    const int64_t at = axis == 0 ? i : j, highest = at + S - 1;
    const bool mine = halves.lo[axis] <= highest && highest < halves.hi[axis];
    for (const Layer<T> *layer : across[axis]) {
        if (at < layer->cell_lo || at >= layer->cell_hi)
            continue;
        const int64_t stride = layer->psi_stride[axis], cell = at - layer->cell_lo, half = highest - layer->half_lo;
        Crossing<T> &crossing = *layers.end[axis]++;
        crossing = {layer->psi_row(i, j) - S * stride,
                    layer->zeta_row(i, j),
                    stride,
                    false,
                    0,
                    0,
                    layer->zeta_gain[cell],
                    layer->zeta_decay[cell]};
        if (mine && layer->half_lo <= highest && highest < layer->half_hi) {
            crossing.advances = true;
            crossing.psi_gain = layer->psi_gain[half];
            crossing.psi_decay = layer->psi_decay[half];
        }
    }
}

// psi, zeta and sum of the layers of z, vector after vector, psi one vector ahead: what has just been stored, a load
// from between two vectors would have to wait for.
template <int R, class T> void PmlRows<R, T>::absorb_ends(const Wavefield<T> &w, int64_t i, int64_t j) {
    const Staggered<S, T> staggered(pml.staggered[2]);
    const Weights<R, T> weights(w.weights[2]);
    const T *row = w.now(w.physics->differentiated[2]) + w.at(i, j);
    for (const End<T> &end : ends) {
        const int64_t at = i * end.stride[0] + j * end.stride[1];
        const T *f = row + end.first;
        T *const psi = end.psi + at, *const zeta = end.zeta + at, *const sum = end.sum;
        const T *psi_gain = end.psi_gain.data(), *psi_decay = end.psi_decay.data();
        const T *zeta_gain = end.zeta_gain.data(), *zeta_decay = end.zeta_decay.data();
        auto advanced = [&](int64_t k) {
            const Vector<T> value =
                madd(load(psi_decay + k), load(psi + k), load(psi_gain + k) * half_points<S>(f + k, 1, staggered));
            store(psi + k, value);
            return value;
        };
        auto absorb = [&](int64_t k, Vector<T> slope) {
            const Vector<T> memory =
                madd(load(zeta_decay + k), load(zeta + k), load(zeta_gain + k) * (beside<R>(f + k, weights) + slope));
            store(zeta + k, memory);
            store(sum + k, slope + memory);
        };
        if constexpr (S <= lanes<T>) {
            Vector<T> before{}, here = advanced(0);
            int64_t k = 0;
            auto next = [&](Vector<T> after) {
                absorb(k, first_derivative<S>(staggered, [&]<int n>() {
                           if constexpr (n < S)
                               return neighbours<lanes<T> - S + n>(before, here);
                           else
                               return neighbours<n - S>(here, after);
                       }));
                before = here;
                here = after;
            };
            for (; k + lanes<T> < end.cells; k += lanes<T>)
                next(advanced(k + lanes<T>));
            next(Vector<T>{});
        } else { // psi reaches further than a vector
            room.assign(end.cells + 2 * S, 0);
            for (int64_t k = 0; k < end.cells; k += lanes<T>)
                store(room.data() + S + k, advanced(k));
            for (int64_t k = 0; k < end.cells; k += lanes<T>)
                absorb(k, half_points<S>(room.data() + S + k - 1, 1, staggered));
        }
    }
}

// zeta and sum in a piece of a row, whose psi was advanced before.
template <int R, class T>
void PmlRows<R, T>::absorb_piece(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t k0,
                                 int64_t k1) {
    const Staggered<S, T> staggered(pml.staggered[2]);
    const Weights<R, T> weights(w.weights[2]);
    const T *f = w.now(w.physics->differentiated[2]) + w.at(i, j), *psi = layer.psi_row(i, j);
    const T *gain = layer.zeta_gain - layer.cell_lo, *decay = layer.zeta_decay - layer.cell_lo;
    T *zeta = layer.zeta_row(i, j), *sum = sums[layer.first ? 0 : 1].data();
    for_each_vector<T>(k0, k1, [&](int64_t k, const auto &part) {
        const Vector<T> slope = half_points<S>(psi + k - 1, 1, staggered);
        const Vector<T> memory =
            madd(part.load(decay + k), part.load(zeta + k), part.load(gain + k) * (beside<R>(f + k, weights) + slope));
        part.store(zeta + k, memory);
        part.store(sum + k, slope + memory);
    });
}

#define FATHOMETER_INSTANTIATE(T)                                                                                      \
    template class PmlRows<1, T>;                                                                                      \
    template class PmlRows<2, T>;                                                                                      \
    template class PmlRows<3, T>;                                                                                      \
    template class PmlRows<4, T>;                                                                                      \
    template class PmlRows<5, T>;                                                                                      \
    template class PmlRows<6, T>;                                                                                      \
    template class PmlRows<7, T>;                                                                                      \
    template class PmlRows<8, T>;
FATHOMETER_INSTANTIATE(float)
FATHOMETER_INSTANTIATE(double)

} // namespace fathometer::acoustic
