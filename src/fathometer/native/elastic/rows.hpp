// Both stages of a time step, row by row: which layers a row crosses.
#pragma once

#include <algorithm>
#include <cmath>

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
            const int64_t cell = (layer.axis == 0 ? i : layer.axis == 1 ? j : 0) - layer.lo;
            const Crossed<T> here{&layer, layer.row(i, j), cell};
            if (layer.axis == 2) {
                (layer.lo == 0 ? crossed.top : crossed.bottom) = here;
            } else if (cell >= 0 && cell < layer.hi - layer.lo) {
                crossed.sides[layer.axis] = here;
                sides = true;
            }
        }
        if (sides)
            stage<true>(w, crossed, i, j, k0, k1);
        else
            stage<false>(w, crossed, i, j, k0, k1);
    }

  private:
    const Elastic<T> &physics;

    template <bool Sides>
    void stage(const Wavefield<T> &w, const AllCrossed<T> &crossed, int64_t i, int64_t j, int64_t k0,
               int64_t k1) const {
        if (w.level == 0)
            Piece<Y, Sides, false, T>(w, physics, crossed, i, j, k0, k1).velocities();
        else
            Piece<Y, Sides, Relaxing, T>(w, physics, crossed, i, j, k0, k1).stresses();
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
