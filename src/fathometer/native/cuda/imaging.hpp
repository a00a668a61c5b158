// What imaging and checks read of a wavefield on a card (core/imaging.hpp), and snapshots in fewer bytes
// (core/blocks.hpp).
#pragma once

#include "view.hpp"

namespace fathometer::cuda {

// Arrays of the box, contiguous; null ones take no part.
template <class T> struct Imaging {
    Real<T> *snapshot;
    const Real<T> *source;
    Real<T> *image, *illumination;
};

// Of the fields "next", which is what a step has written.
template <class T>
void image(const View<T> &w, int fields, const Box &box, const Imaging<T> &imaging, cudaStream_t stream);

// The free surface: "next" is zero at z = 0, and mirrored above it.
template <class T> void free_surface(const View<T> &w, int fields, int radius, cudaStream_t stream);

// *first = the least offset of an owned cell of "now" that is not finite, else left as it is.
template <class T> void first_nonfinite(const View<T> &w, int fields, unsigned long long *first, cudaStream_t stream);

// int8 or float16 cells with a scale for each 8^3; bits: 8 or 16. n: of a volume.
template <class T>
void encode(const Real<T> *volume, const int n[3], int bits, void *encoded, float *scales, cudaStream_t stream);
template <class T>
void decode(const void *encoded, const float *scales, const int n[3], int bits, Real<T> *volume, cudaStream_t stream);

// a = b + 3 c.
void triad(float *a, const float *b, const float *c, int64_t n, cudaStream_t stream);

// Owned cells or halos of a field, from or to a contiguous array.
template <class T>
void pack(Real<T> *field, const int64_t stride[2], const Box &box, Real<T> *packed, bool into_field,
          cudaStream_t stream);

} // namespace fathometer::cuda
