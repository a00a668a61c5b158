// The exponential function of every lane of a vector: the same operations in each, so that a cell's value does not
// depend on its lane, nor on the vector's width.
#pragma once

#include <bit>
#include <cstdint>

#include "core/simd.hpp"

namespace fathometer::reactive {

using Doubles = Vector<double>;
using Mask = decltype(Doubles{} < Doubles{});

// exp(x) = 2^k exp(r), |r| <= ln(2)/2, whose Taylor polynomial of degree 13 is off by 4e-18 at most; about one unit in
// the last place in all. Beyond the range of numbers: infinity and zero; NaN of NaN. ln(2) in two parts as by Cody &
// Waite (1980, Software Manual for the Elementary Functions): k times the first is exact.
[[gnu::always_inline]] inline Doubles exponential(Doubles x) {
    constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33, per_ln2 = 0x1.71547652b82fep+0;
    constexpr double whole = 0x1.8p52; // added to a small number, leaves its integer in the lowest bits
    constexpr double beyond = 800;
    x = x > beyond ? all_lanes(beyond) : x; // written so that NaN stays
    x = x < -beyond ? all_lanes(-beyond) : x;
    const Doubles shifted = madd(x, all_lanes(per_ln2), all_lanes(whole)), k = shifted - whole;
    const Doubles r = madd(-k, all_lanes(ln2_low), madd(-k, all_lanes(ln2_high), x));
    constexpr double factor[] = {
        1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
        1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1.0,         1.0};
    Doubles value = all_lanes(factor[0]);
    for (int n = 1; n < 14; ++n)
        value = madd(value, r, all_lanes(factor[n]));
    // 2^k in two factors: the power itself may be out of range where the product is not.
    const Mask power = Mask(shifted) - std::bit_cast<int64_t>(whole), half = power >> 1;
    return value * Doubles((half + 1023) << 52) * Doubles((power - half + 1023) << 52);
}

} // namespace fathometer::reactive
