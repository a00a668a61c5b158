#include "stretch.hpp"

#include "dispatch.hpp"

namespace fathometer {

template <class T> void stretch(const Wavefield<T> &w, const Layer<T> &layer, int64_t lo, int64_t hi) {
    if (lo >= hi || layer.in_row)
        return;
    int64_t first[3] = {0, 0, 0}, last[3] = {w.n[0], w.n[1], w.n[2]};
    first[layer.axis] = lo;
    last[layer.axis] = hi;
    with_radius(w.radius, [&]<int R>() {
#pragma omp for collapse(2) schedule(static) nowait
        for (int64_t i = first[0]; i < last[0]; ++i)
            for (int64_t j = first[1]; j < last[1]; ++j)
                if (layer.axis == 2)
                    advance_psi<R, true>(w, layer, i, j, lo, hi);
                else
                    advance_psi<R, false>(w, layer, i, j, 0, w.n[2]);
    });
}

template void stretch<float>(const Wavefield<float> &, const Layer<float> &, int64_t, int64_t);
template void stretch<double>(const Wavefield<double> &, const Layer<double> &, int64_t, int64_t);

} // namespace fathometer
