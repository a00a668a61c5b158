// Injection and sampling are each other's transpose: the same weights, M on the side of the injection.
// The order of every sum is fixed by the order of the points and of the cells, never by threads or ranks.
#include "points.hpp"

#include <algorithm>

#include <omp.h>

namespace fathometer {

namespace {

// Add all points, in their order, to the cells with x in [x0, x1).
template <class T>
void inject_planes(const Wavefield<T> &w, const Points<T> &points, const T *values, T scale, int64_t x0, int64_t x1) {
    for (int64_t p = 0; p < points.size(); ++p) {
        const int64_t *first = &points.first[3 * p];
        const int32_t *count = &points.count[3 * p];
        const T *wx = &points.weight[3 * max_weights * p], *wy = wx + max_weights, *wz = wy + max_weights;
        const T value = values[points.column[p]] * scale;
        const int64_t i1 = std::min(first[0] + count[0], x1), j1 = std::min(first[1] + count[1], w.n[1]),
                      k1 = std::min(first[2] + count[2], w.n[2]);
        for (int64_t i = std::max(first[0], x0); i < i1; ++i)
            for (int64_t j = std::max<int64_t>(first[1], 0); j < j1; ++j) {
                const T weight_xy = wx[i - first[0]] * wy[j - first[1]];
                const int64_t cell = w.at(i, j), row = w.model_at(i, j);
                for (int64_t k = std::max<int64_t>(first[2], 0); k < k1; ++k) {
                    T f = weight_xy * wz[k - first[2]] * value;
                    if (w.damping[0])
                        f /= 1 + (w.damping[0][i] + w.damping[1][j] + w.damping[2][k]);
                    if (w.fields == 2) {
                        f *= T(0.5);
                        w.next(0)[cell + k] += (w.model[0][row + k] + w.model[1][row + k]) * f;
                        w.next(1)[cell + k] += (w.model[1][row + k] + w.model[2][row + k]) * f;
                    } else {
                        w.next(0)[cell + k] += w.model[0][row + k] * f;
                    }
                }
            }
    }
}

} // namespace

template <class T> void inject(const Wavefield<T> &w, const Points<T> &points, const T *values, T scale) {
    const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    inject_planes(w, points, values, scale, w.n[0] * me / threads, w.n[0] * (me + 1) / threads);
}

template <class T> void sample(const Wavefield<T> &w, const Points<T> &points, T *values) {
#pragma omp for schedule(static) nowait
    for (int64_t p = 0; p < points.size(); ++p) {
        const int64_t *first = &points.first[3 * p];
        const int32_t *count = &points.count[3 * p];
        const T *wx = &points.weight[3 * max_weights * p], *wy = wx + max_weights, *wz = wy + max_weights;
        T sum = 0;
        for (int i = 0; i < count[0]; ++i) {
            T plane = 0;
            for (int j = 0; j < count[1]; ++j) {
                const int64_t cell = w.at(first[0] + i, first[1] + j) + first[2];
                T line = 0;
                for (int k = 0; k < count[2]; ++k) {
                    const T pressure =
                        w.fields == 2 ? T(0.5) * (w.now(0)[cell + k] + w.now(1)[cell + k]) : w.now(0)[cell + k];
                    line += wz[k] * pressure;
                }
                plane += wy[j] * line;
            }
            sum += wx[i] * plane;
        }
        values[points.column[p]] = sum;
    }
}

template void inject<float>(const Wavefield<float> &, const Points<float> &, const float *, float);
template void inject<double>(const Wavefield<double> &, const Points<double> &, const double *, double);
template void sample<float>(const Wavefield<float> &, const Points<float> &, float *);
template void sample<double>(const Wavefield<double> &, const Points<double> &, double *);

} // namespace fathometer
