// The filter bank of a trace: the trace smoothed by triangles of many lengths, for the anti-alias filter.
//
// Row k holds the trace smoothed over a triangle of half-length m(k) samples: row 0 the trace itself, then four rows an
// octave, whose half-lengths in units of `unit` samples are 1, 1.25, 1.5, 1.75, 2, 2.5, ... So a row is found by the
// bits of a float, without a logarithm. (Lumley, Claerbout & Bevc 1994, Anti-aliased Kirchhoff 3-D migration, SEG.)
#pragma once

#include <bit>
#include <cstdint>

namespace fathometer::kirchhoff {

// Rows of all traces. A row has `margin` zeros before and after the samples of the trace.
struct Bank {
    int64_t rows, samples, margin;
    int64_t unit; // half-length of row 1, samples
    int64_t length() const { return samples + 2 * margin; }
};

constexpr int row_bits = 2;       // of the mantissa: 4 rows an octave
constexpr int32_t most_rows = 25; // up to 64 units

// Half-length of the triangle of a row, samples.
inline int64_t half_length(int64_t unit, int64_t row) {
    if (row == 0)
        return 0;
    const int64_t steps = int64_t(1) << row_bits, octave = (row - 1) / steps;
    return (unit * (steps + (row - 1) % steps) << octave) / steps;
}

// The row whose triangle is nearest to a half-length in units of `unit` samples. Branches on nothing but the ends.
constexpr int32_t row_shift = 23 - row_bits, row_origin = std::bit_cast<int32_t>(1.0f) - (3 << (row_shift - 1));
inline int32_t row_of(float length, int32_t rows) {
    const int32_t row = (std::bit_cast<int32_t>(length) - row_origin) >> row_shift;
    return row < 0 ? 0 : row >= rows ? rows - 1 : row;
}

// bank (count, rows, length) of traces (count, samples).
void fill_bank(const Bank &bank, const float *traces, int64_t count, float *rows);

// The transpose: traces (count, samples) of what was put into the rows (count, rows, length).
void gather_bank(const Bank &bank, const float *rows, int64_t count, float *traces);

} // namespace fathometer::kirchhoff
