// Sums of partial images that do not depend on the order (runs/exact_sum.py), and checksums that add up over parts.
#pragma once

#include <cstdint>

namespace fathometer {

constexpr int limb_bits = 40; // of an integer that a value is cut into

// A view of a volume (x, y, z) whose rows along z are contiguous; strides in elements.
template <class T> struct View {
    T *data;
    int64_t shape[3], stride_x, stride_y;

    T *row(int64_t x, int64_t y) const { return data + x * stride_x + y * stride_y; }
};

// values = a upper + b lower + rest with integers a, b by truncation: first += a, second += b. upper and lower are
// powers of two, and |values| < 2^40 upper; throws std::invalid_argument, the sum being lost, where they are not.
template <class T>
void add_exactly(const View<const T> &values, const View<int64_t> &first, const View<int64_t> &second, double upper,
                 double lower);

// Sum modulo 2^64 of a mix of bits and place, 0 where all bits are 0, over cells whose first lies at `lo` in a volume
// of ny x nz cells a plane.
template <class Bits> uint64_t checksum(const View<const Bits> &values, int64_t ny, int64_t nz, const int64_t (&lo)[3]);

} // namespace fathometer
