// Several time steps of a wavefield that has no neighbours to wait for.
#pragma once

#include "points.hpp"
#include "stretch.hpp"
#include "surface.hpp"
#include "sweep.hpp"

namespace fathometer {

// A series per column: row n holds the values of all columns at step n.
template <class T> struct Series {
    T *values = nullptr;
    int64_t columns = 0;
    T *row(int64_t n) const { return values + n * columns; }
};

// Per step n: record "now" at the receivers, compute "next", add the sources' values of step n, make "next" the "now".
template <class T>
void advance(Wavefield<T> &w, int64_t steps, const Points<T> *sources, Series<const T> injected, T scale,
             const Points<T> *receivers, Series<T> recorded) {
    const Box all{{0, 0, 0}, {w.n[0], w.n[1], w.n[2]}};
    for (int64_t n = 0; n < steps; ++n) {
        if (receivers)
            sample(w, *receivers, recorded.row(n));
        for (const Layer<T> &layer : w.layers)
            stretch(w, layer, layer.half_lo, layer.half_hi);
        sweep(w, all);
        if (sources)
            inject(w, *sources, injected.row(n), scale);
        if (w.free_surface)
            mirror_surface(w);
        w.level = 1 - w.level;
    }
}

} // namespace fathometer
