// Volumes in fewer bytes, fast: blocks of 8^3 cells share a scale, their largest magnitude, and every cell is a small
// number times it. Rows stay where they are: an encoded volume has the shape of the plain one.
//
//     int8      x = q s / 127,  q an integer: errors up to s / 254
//     float16   x = h s,        h a half: errors up to 2^-12 |x|, and s 2^-25 where x is tiny
//
// A row of blocks (8 x 8 rows of cells) is read twice, the second time from the cache: the volume crosses the memory
// once in each direction.
#pragma once

#include <cstdint>

namespace fathometer {

constexpr int64_t block_side = 8; // cells

// Number of blocks that hold n cells.
constexpr int64_t blocks_of(int64_t n) { return (n + block_side - 1) / block_side; }

// A half-precision number (IEEE 754 binary16) as its bits.
struct Half {
    uint16_t bits;
};

// All volumes are contiguous, (n[0], n[1], n[2]); scales are (blocks_of(n[0]), blocks_of(n[1]), blocks_of(n[2])).
// T: float or double, Q: int8_t or Half. By a new team. A block that holds what is not finite comes back as NaN.
template <class T, class Q> void encode_blocks(const T *volume, const int64_t n[3], Q *encoded, float *scales);
template <class T, class Q> void decode_blocks(const Q *encoded, const float *scales, const int64_t n[3], T *volume);

} // namespace fathometer
