// Absorbing layers by complex stretching of the coordinate.
//
//   d2w/dx2  ->  (1/s) d/dx (1/s) dw/dx,   1/s = 1 - eta / (i omega + eta + alpha)
//
// for each axis by itself (Komatitsch & Martin 2007, Geophysics 72(5); for second-order equations Pasalic & McGarry
// 2010, SEG). In time 1/s is 1 plus a recursive filter g, q -> memory, memory = decay * memory + gain * q. With L the
// centred second derivative of order 2R and d the first derivative at half points,
//
//   (1/s) D (1/s) D w  =  (1 + g) [ L w - d^T (g d w) ]
//
// d reaches (R+1)/2 points, so that the two of them together stay within the stencil's reach R: the layer needs no
// wider halo than the interior. d^T g d is symmetric whatever g does in time; times s, the whole operator is
// symmetric at every frequency, and so F* remains F run on reversed time, layers included.
#pragma once

#include "region.hpp"
#include "simd.hpp"
#include "wavefield.hpp"

namespace fathometer {

// Whether any layer's first derivative must be advanced before the cells of a part are.
template <class T> bool needs_halves(const Wavefield<T> &w, const Part &part);

// Advance the first derivatives (psi) of all layers in a part's half points, from the field "now": one member's share
// of it. Layers that are advanced in their rows are left to Stretches.
template <class T> void advance_halves(const Wavefield<T> &w, const Part &part, int64_t member, int64_t members);

// What the layers add to the derivatives in a row: to h, along x and y, where a row lies in one of their layers (else
// null), and to l, along z, in the cells below `low` and from `high` on.
template <class T> struct Stretch {
    const T *h, *l;
    int64_t low, high;

    [[gnu::always_inline]] inline void add(int64_t k, Vector<T> &to_h, Vector<T> &to_l) const {
        if (h)
            to_h += load(h + k);
        if (k < low || k + lanes<T> > high)
            to_l += load(l + k);
    }
};

// The layers' parts of a block of rows, made before the rows are computed. One thread's.
template <class T> class Stretches {
  public:
    // For blocks of at most `rows` rows.
    Stretches(const Wavefield<T> &w, int64_t rows);

    // Advance the second derivatives (zeta) in the cells of a box, and the first ones that are advanced in their rows.
    // Every owned cell must be passed exactly once a step, after the half points around it.
    void prepare(const Wavefield<T> &w, const Box &box);

    // Of a row of that box.
    Stretch<T> row(int64_t i, int64_t j) const {
        const int64_t n = index(i, j);
        return {filled[n] ? h.data() + n * pitch : nullptr, l.data() + n * pitch, low, high};
    }

  private:
    Box block{};
    int64_t pitch, low, high;
    std::vector<T> h, l;
    std::vector<char> filled;

    int64_t index(int64_t i, int64_t j) const {
        return (i - block.lo[0]) * (block.hi[1] - block.lo[1]) + j - block.lo[1];
    }
    template <int R> void prepare_with(const Wavefield<T> &w);
};

} // namespace fathometer
