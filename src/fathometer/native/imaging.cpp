#include "imaging.hpp"

#include <cmath>
#include <limits>

#include "denormals.hpp"

namespace fathometer {

namespace {

template <class T> inline T pressure_at(const Wavefield<T> &w, const T *u, const T *v, int64_t k) {
    return w.fields == 2 ? T(0.5) * (u[k] + v[k]) : u[k];
}

// Calls row(u, v, offset, nz) for every row of the box: the fields at its first cell, its offset in compact arrays.
template <class T, class Row> void for_each_compact_row(const Wavefield<T> &w, const Box &box, Row row) {
    const int64_t ny = box.hi[1] - box.lo[1], nz = box.hi[2] - box.lo[2];
#pragma omp parallel
    {
        FlushDenormals guard;
#pragma omp for collapse(2) schedule(static)
        for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
            for (int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
                const int64_t cell = w.at(i, j) + box.lo[2];
                const T *u = w.now(0) + cell, *v = w.now(w.fields - 1) + cell;
                row(u, v, ((i - box.lo[0]) * ny + (j - box.lo[1])) * nz, nz);
            }
    }
}

} // namespace

template <class T> void pressure(const Wavefield<T> &w, const Box &box, T *out) {
    for_each_compact_row(w, box, [&](const T *u, const T *v, int64_t offset, int64_t nz) {
        T *__restrict to = out + offset;
        for (int64_t k = 0; k < nz; ++k)
            to[k] = pressure_at(w, u, v, k);
    });
}

template <class T> void correlate(const Wavefield<T> &w, const Box &box, const T *snapshot, T *image, T *illumination) {
    for_each_compact_row(w, box, [&](const T *u, const T *v, int64_t offset, int64_t nz) {
        const T *__restrict source = snapshot + offset;
        T *__restrict to = image + offset;
        T *__restrict energy = illumination + offset;
        for (int64_t k = 0; k < nz; ++k) {
            to[k] += source[k] * pressure_at(w, u, v, k);
            energy[k] += source[k] * source[k];
        }
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

template void pressure<float>(const Wavefield<float> &, const Box &, float *);
template void pressure<double>(const Wavefield<double> &, const Box &, double *);
template void correlate<float>(const Wavefield<float> &, const Box &, const float *, float *, float *);
template void correlate<double>(const Wavefield<double> &, const Box &, const double *, double *, double *);
template int64_t first_nonfinite<float>(const Wavefield<float> &);
template int64_t first_nonfinite<double>(const Wavefield<double> &);

} // namespace fathometer
