// What imaging reads from a wavefield: its pressure, and the products that make an image.
#pragma once

#include <algorithm>

#include "wavefield.hpp"

namespace fathometer {

// What to do with the field when it has come to an imaging step, in the cells of a box. All arrays are contiguous with
// the shape of the box; null ones take no part.
template <class T> struct Imaging {
    int64_t step; // of the job, after which
    Box box;
    T *snapshot;     // = p
    const T *source; // a snapshot p_s: image += p_s p and illumination += p_s^2 (zero-lag cross-correlation)
    T *image, *illumination;
};

// The cells k0..k1 of row (i, j), of which pressure(k) is p.
template <class T, class Pressure>
void image_row(const Imaging<T> &imaging, int64_t i, int64_t j, int64_t k0, int64_t k1, Pressure pressure) {
    const Box &box = imaging.box;
    k0 = std::max(k0, box.lo[2]);
    k1 = std::min(k1, box.hi[2]);
    if (i < box.lo[0] || i >= box.hi[0] || j < box.lo[1] || j >= box.hi[1] || k0 >= k1)
        return;
    const int64_t nz = box.hi[2] - box.lo[2],
                  offset = ((i - box.lo[0]) * (box.hi[1] - box.lo[1]) + (j - box.lo[1])) * nz - box.lo[2];
    // The compiler is told that no array overlaps another: it cannot see it.
    if (imaging.snapshot) {
        T *to = imaging.snapshot + offset;
#pragma omp simd
        for (int64_t k = k0; k < k1; ++k)
            to[k] = pressure(k);
    }
    if (imaging.source) {
        const T *source = imaging.source + offset;
        T *image = imaging.image + offset, *energy = imaging.illumination + offset;
#pragma omp simd
        for (int64_t k = k0; k < k1; ++k) {
            image[k] += source[k] * pressure(k);
            energy[k] += source[k] * source[k];
        }
    }
}

// All cells of the box, of the field "now", by a new team.
template <class T> void image_all(const Wavefield<T> &w, const Imaging<T> &imaging);

// Offset (x, y, z flattened over owned cells) of the first cell of "now" that is not finite, -1 where all are.
template <class T> int64_t first_nonfinite(const Wavefield<T> &w);

} // namespace fathometer
