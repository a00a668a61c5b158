#include "imaging.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "team.hpp"

namespace fathometer {

template <class T>
void image_row(const Wavefield<T> &w, int level, const Imaging<T> &imaging, int64_t i, int64_t j, int64_t k0,
               int64_t k1) {
    const Box &box = imaging.box;
    k0 = std::max(k0, box.lo[2]);
    k1 = std::min(k1, box.hi[2]);
    if (i < box.lo[0] || i >= box.hi[0] || j < box.lo[1] || j >= box.hi[1] || k0 >= k1)
        return;
    const int64_t nz = box.hi[2] - box.lo[2],
                  offset = ((i - box.lo[0]) * (box.hi[1] - box.lo[1]) + (j - box.lo[1])) * nz + k0 - box.lo[2];
    const int64_t cell = w.origin + w.at(i, j) + k0;
    const T *__restrict u = w.buffer[0][level] + cell, *__restrict v = w.buffer[w.fields - 1][level] + cell;
    const T half = w.fields == 2 ? T(0.5) : T(1), other = w.fields == 2 ? T(1) : T(0); // p = (u + v) / 2, or u
    if (imaging.snapshot) {
        T *__restrict to = imaging.snapshot + offset;
        for (int64_t k = 0; k < k1 - k0; ++k)
            to[k] = half * (u[k] + other * v[k]);
    }
    if (imaging.source) {
        const T *__restrict source = imaging.source + offset;
        T *__restrict image = imaging.image + offset, *__restrict energy = imaging.illumination + offset;
        for (int64_t k = 0; k < k1 - k0; ++k) {
            image[k] += source[k] * (half * (u[k] + other * v[k]));
            energy[k] += source[k] * source[k];
        }
    }
}

template <class T> void image_all(const Wavefield<T> &w, const Imaging<T> &imaging) {
    in_team([&] {
#pragma omp for collapse(2) schedule(static)
        for (int64_t i = imaging.box.lo[0]; i < imaging.box.hi[0]; ++i)
            for (int64_t j = imaging.box.lo[1]; j < imaging.box.hi[1]; ++j)
                image_row(w, w.level, imaging, i, j, imaging.box.lo[2], imaging.box.hi[2]);
    });
}

template <class T> int64_t first_nonfinite(const Wavefield<T> &w) {
    int64_t first = std::numeric_limits<int64_t>::max();
#pragma omp parallel for collapse(2) schedule(static) reduction(min : first)
    for (int64_t i = 0; i < w.n[0]; ++i)
        for (int64_t j = 0; j < w.n[1]; ++j)
            for (int field = 0; field < w.fields; ++field) {
                const T *row = w.now(field) + w.at(i, j);
                // x - x is 0 for finite x and NaN otherwise: one vector pass before looking closely.
                T sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int64_t k = 0; k < w.n[2]; ++k)
                    sum += row[k] - row[k];
                if (sum == 0)
                    continue;
                for (int64_t k = 0; k < w.n[2]; ++k)
                    if (!std::isfinite(row[k])) {
                        first = std::min(first, (i * w.n[1] + j) * w.n[2] + k);
                        break;
                    }
            }
    return first == std::numeric_limits<int64_t>::max() ? -1 : first;
}

template void image_row<float>(const Wavefield<float> &, int, const Imaging<float> &, int64_t, int64_t, int64_t,
                               int64_t);
template void image_row<double>(const Wavefield<double> &, int, const Imaging<double> &, int64_t, int64_t, int64_t,
                                int64_t);
template void image_all<float>(const Wavefield<float> &, const Imaging<float> &);
template void image_all<double>(const Wavefield<double> &, const Imaging<double> &);
template int64_t first_nonfinite<float>(const Wavefield<float> &);
template int64_t first_nonfinite<double>(const Wavefield<double> &);

} // namespace fathometer
