// Several time steps of a wavefield that has no neighbours to wait for.
#pragma once

#include "points.hpp"
#include "surface.hpp"
#include "sweep.hpp"
#include "team.hpp"

namespace fathometer {

// A series per column: row n holds the values of all columns at step n.
template <class T> struct Series {
    T *values = nullptr;
    int64_t columns = 0;
    T *row(int64_t n) const { return values + n * columns; }
};

// Per step n: record "now" at the receivers, compute "next", add the sources' values of step n, make "next" the "now".
// One team runs all steps, since starting a team costs as much as a step of a small grid; it meets at the barriers.
template <class T>
void advance(Wavefield<T> &w, int64_t steps, const Points<T> *sources, Series<const T> injected, T scale,
             const Points<T> *receivers, Series<T> recorded) {
    in_team([&] {
        Wavefield<T> mine = w; // each thread's own: its level alternates
        const Box all{{0, 0, 0}, {w.n[0], w.n[1], w.n[2]}};
        for (int64_t n = 0; n < steps; ++n) {
            if (receivers)
                sample(mine, *receivers, recorded.row(n));
            if (!mine.layers.empty()) {
                for (const Layer<T> &layer : mine.layers)
                    stretch(mine, layer, layer.half_lo, layer.half_hi);
#pragma omp barrier
            }
            sweep(mine, all);
#pragma omp barrier
            if (sources) {
                inject(mine, *sources, injected.row(n), scale);
#pragma omp barrier
            }
            if (mine.free_surface) {
                mirror_surface(mine);
#pragma omp barrier
            }
            mine.level = 1 - mine.level;
        }
    });
    w.level = (w.level + steps) % 2;
}

} // namespace fathometer
