#include "stretch.hpp"

#include "denormals.hpp"
#include "dispatch.hpp"

namespace fathometer {

namespace {

// One function, never inlined: whether it runs in a pass of its own or inside the sweep, the numbers are the same.
template <int S, class T>
[[gnu::noinline]] void stretch_z(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t lo,
                                 int64_t hi) {
    const T *__restrict f = w.now(w.field_of(2)) + w.at(i, j);
    const T *weight = w.staggered[2];
    T *__restrict psi = layer.psi_row(i, j);
    const T *__restrict gain = layer.psi_gain - layer.half_lo, *__restrict decay = layer.psi_decay - layer.half_lo;
#pragma omp simd
    for (int64_t k = lo; k < hi; ++k)
        psi[k] = decay[k] * psi[k] + gain[k] * half_point<S>(f + k, 1, weight);
}

template <int S, class T>
void stretch_across(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j) {
    const T *__restrict f = w.now(w.field_of(layer.axis)) + w.at(i, j);
    const T *weight = w.staggered[layer.axis];
    T *__restrict psi = layer.psi_row(i, j);
    const int64_t h = (layer.axis == 0 ? i : j) - layer.half_lo, along = w.stride[layer.axis];
    const T gain = layer.psi_gain[h], decay = layer.psi_decay[h];
#pragma omp simd
    for (int64_t k = 0; k < w.n[2]; ++k)
        psi[k] = decay * psi[k] + gain * half_point<S>(f + k, along, weight);
}

} // namespace

template <class T>
void stretch_row(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t lo, int64_t hi) {
    with_radius(w.radius, [&]<int R>() { stretch_z<(R + 1) / 2>(w, layer, i, j, lo, hi); });
}

template <class T> void stretch(const Wavefield<T> &w, const Layer<T> &layer, int64_t lo, int64_t hi) {
    if (lo >= hi || layer.in_row)
        return;
    int64_t first[2] = {0, 0}, last[2] = {w.n[0], w.n[1]};
    if (layer.axis < 2) {
        first[layer.axis] = lo;
        last[layer.axis] = hi;
    }
#pragma omp parallel
    {
        FlushDenormals guard;
#pragma omp for collapse(2) schedule(static)
        for (int64_t i = first[0]; i < last[0]; ++i)
            for (int64_t j = first[1]; j < last[1]; ++j) {
                if (layer.axis == 2)
                    stretch_row(w, layer, i, j, lo, hi);
                else
                    with_radius(w.radius, [&]<int R>() { stretch_across<(R + 1) / 2>(w, layer, i, j); });
            }
    }
}

template void stretch<float>(const Wavefield<float> &, const Layer<float> &, int64_t, int64_t);
template void stretch<double>(const Wavefield<double> &, const Layer<double> &, int64_t, int64_t);
template void stretch_row<float>(const Wavefield<float> &, const Layer<float> &, int64_t, int64_t, int64_t, int64_t);
template void stretch_row<double>(const Wavefield<double> &, const Layer<double> &, int64_t, int64_t, int64_t,
                                  int64_t);

} // namespace fathometer
