// What imaging reads from a wavefield: its pressure, and the products that make an image.
#pragma once

#include "wavefield.hpp"

namespace fathometer {

// What to do with the field when it has come to an imaging step, in the cells of a box. All arrays are contiguous with
// the shape of the box; null ones take no part.
template <class T> struct Imaging {
    Box box;
    T *snapshot;     // = p
    const T *source; // a snapshot p_s: image += p_s p and illumination += p_s^2 (zero-lag cross-correlation)
    T *image, *illumination;
};

// The cells k0..k1 of row (i, j) of time level `level`.
template <class T>
void image_row(const Wavefield<T> &w, int level, const Imaging<T> &imaging, int64_t i, int64_t j, int64_t k0,
               int64_t k1);

// All cells of the box, of the field "now", by a new team.
template <class T> void image_all(const Wavefield<T> &w, const Imaging<T> &imaging);

// Offset (x, y, z flattened over owned cells) of the first cell of "now" that is not finite, -1 where all are.
template <class T> int64_t first_nonfinite(const Wavefield<T> &w);

} // namespace fathometer
