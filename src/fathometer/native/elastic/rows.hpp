// Both stages of a time step, row by row: which layers a row crosses, and the pieces that it is computed in.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/row.hpp"
#include "piece.hpp"

namespace fathometer::elastic {

template <bool Y, bool Relaxing, class T> class ElasticRows : public RowStepper<T> {
  public:
    explicit ElasticRows(const Elastic<T> &physics) : physics(physics) {}

    void step(const Wavefield<T> &w, const Box &, int64_t i, int64_t j, int64_t k0, int64_t k1,
              const Prefetch<T> &) override {
        const Peaks<T> &peaks = physics.peaks;
        if (w.level == 1 && peaks.plane >= k0 && peaks.plane < k1)
            note_peaks(w, i, j);
        AllCrossed<T> crossed;
        bool sides = false;
        for (const Layer<T> &layer : physics.layers) {
            const int64_t at = layer.axis == 0 ? i : j;
            if (layer.axis == 2) {
                const bool top = layer.lo == 0;
                cross(layer, w.level, i, j, -layer.lo, top ? crossed.top : crossed.bottom);
                (top ? crossed.top_end : crossed.bottom_begin) = top ? layer.hi : layer.lo;
            } else if (at >= layer.lo && at < layer.hi) {
                cross(layer, w.level, i, j, at - layer.lo, crossed.sides[layer.axis]);
                sides = true;
            }
        }
        if (sides)
            pieces<true>(w, crossed, i, j, k0, k1);
        else
            pieces<false>(w, crossed, i, j, k0, k1);
    }

  private:
    const Elastic<T> &physics;

    // offset: of the row's filters from those at the layer's first cell; of z, of k = 0.
    void cross(const Layer<T> &layer, int stage, int64_t i, int64_t j, int64_t offset, Crossed<T> &to) const {
        for (int component = 0; component < 3; ++component)
            if (Y || component != 1)
                to.memory[component] = layer.row(stage, component, i, j);
        to.following = layer.stride[Y ? 1 : 0];
        for (int half = 0; half < 2; ++half) {
            to.gain[half] = layer.gain[half] + offset;
            to.decay[half] = layer.decay[half] + offset;
            if (layer.keep[half])
                to.keep[half] = layer.keep[half] + offset;
        }
    }

    template <bool Sides>
    void pieces(const Wavefield<T> &w, const AllCrossed<T> &crossed, int64_t i, int64_t j, int64_t k0,
                int64_t k1) const {
        constexpr int64_t closed = std::max(lanes<T>, closure_rows);
        if (w.free_surface && k0 < closed) {
            const int64_t end = std::min(k1, closed);
            if (w.level == 0)
                Piece<Y, Sides, false, true, false, T>(w, physics, crossed, i, j, k0, end).velocities();
            else
                Piece<Y, Sides, Relaxing, true, false, T>(w, physics, crossed, i, j, k0, end).stresses();
            k0 = end;
        }
        if (k0 >= k1)
            return;
        in_vectors<T>(k0, k1, [&]<bool Whole>(int64_t from, int64_t to) {
            if (w.level == 0)
                Piece<Y, Sides, false, false, Whole, T>(w, physics, crossed, i, j, from, to).velocities();
            else
                Piece<Y, Sides, Relaxing, false, Whole, T>(w, physics, crossed, i, j, from, to).stresses();
        });
    }

    // At a node: velocities are means of those on both sides; in the free surface vz is extrapolated.
    void note_peaks(const Wavefield<T> &w, int64_t i, int64_t j) const {
        using F = Fields<Y>;
        const int64_t k = physics.peaks.plane, at = w.at(i, j) + k, column = i * w.n[1] + j;
        const T *vx = w.now(F::vx) + at, *vz = w.now(F::vz) + at;
        const T x = (vx[0] + vx[-w.stride[0]]) / 2;
        T y = 0;
        if constexpr (Y) {
            const T *vy = w.now(F::vy) + at;
            y = (vy[0] + vy[-w.stride[1]]) / 2;
        }
        const T z = w.free_surface && k == 0 ? madd(T(1.875), vz[0], madd(T(-1.25), vz[1], T(0.375) * vz[2]))
                                             : (vz[0] + vz[-1]) / 2;
        T &horizontal = physics.peaks.horizontal[column], &vertical = physics.peaks.vertical[column];
        horizontal = std::max(horizontal, std::sqrt(madd(x, x, y * y)));
        vertical = std::max(vertical, std::abs(z));
    }
};

} // namespace fathometer::elastic
