// The biorthogonal wavelet transform CDF 9/7 of a block of values, and its inverse.
//
// By lifting, as Daubechies & Sweldens (1998, J. Fourier Anal. Appl. 4, 247-269) factor the filters of Cohen,
// Daubechies & Feauveau (1992); a block is continued by its mirror image about its first and last value. The scaling
// makes the transform nearly orthonormal: a change of a coefficient changes the values by nearly the same root of a sum
// of squares.
//
// A halving along an axis puts the ceil(n / 2) low-pass coefficients before the floor(n / 2) high-pass ones. The
// *level* l of a block is what l halvings of each axis leave, its corner; an axis takes part in as many as it has.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fathometer::wavelet {

using Index3 = std::array<std::int64_t, 3>;

// Cells of a block along x, y, z, and halvings of each axis.
struct Block {
    Index3 cells, halvings;

    int levels() const;
    Index3 at(int level) const; // cells of a level
    std::int64_t size(int level) const;
    float scale(int level) const; // of a level's coefficients over the values that they stand for
};

// values[x, y, z] of a block to its coefficients, in place.
void forward(const Block &block, float *values, std::vector<float> &lines);

// Coefficients[x, y, z] of a level, contiguous, to values, in place: those that the level stands for, times its scale.
void inverse(const Block &block, int level, float *coefficients, std::vector<float> &lines);

} // namespace fathometer::wavelet
