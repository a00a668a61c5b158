// What imaging reads from a wavefield: its pressure, and the products that make an image.
#pragma once

#include "wavefield.hpp"

namespace fathometer {

// out[x, y, z] (contiguous, shape of the box) = pressure of the field "now".
template <class T> void pressure(const Wavefield<T> &w, const Box &box, T *out);

// Zero-lag cross-correlation: image += p_s p_r and illumination += p_s^2, p_s a snapshot, p_r the field "now";
// all arrays contiguous with the shape of the box.
template <class T> void correlate(const Wavefield<T> &w, const Box &box, const T *snapshot, T *image, T *illumination);

// Offset (x, y, z flattened over owned cells) of the first cell of "now" that is not finite, -1 where all are.
template <class T> int64_t first_nonfinite(const Wavefield<T> &w);

} // namespace fathometer
