// Absorbing layers by complex stretching of the coordinate: convolutional perfectly matched layers (PML).
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

#include <vector>

#include "core/region.hpp"
#include "core/simd.hpp"
#include "core/wavefield.hpp"

namespace fathometer::acoustic {

// One absorbing side, of one axis.
template <class T> struct Layer {
    int axis;
    bool in_row;              // its psi is advanced with the cells of its row: axis z, where a block holds whole rows
    int64_t cell_lo, cell_hi; // owned cells that the layer corrects
    int64_t half_lo, half_hi; // half points i+1/2, index i, that have a memory variable on this rank
    T *psi;                   // memory of the first derivative at half points
    int64_t psi_first;        // index of the first half point in psi (before half_lo: room that stays zero)
    int64_t psi_stride[2];    // strides of x and y in psi
    T *zeta;                  // memory of the second derivative at cells, from cell_lo on
    int64_t zeta_stride[2];
    const T *psi_gain, *psi_decay;   // recursion at half points, from half_lo on
    const T *zeta_gain, *zeta_decay; // recursion at cells, from cell_lo on

    // Rows of the memories, indexed by k as fields are.
    T *psi_row(int64_t i, int64_t j) const { return row(psi, psi_stride, psi_first, i, j); }
    T *zeta_row(int64_t i, int64_t j) const { return row(zeta, zeta_stride, cell_lo, i, j); }

  private:
    T *row(T *memory, const int64_t *stride, int64_t first, int64_t i, int64_t j) const {
        return memory + (axis == 0 ? i - first : i) * stride[0] + (axis == 1 ? j - first : j) * stride[1] -
               (axis == 2 ? first : 0);
    }
};

// The layers of a wavefield; none where its sides do not absorb in this way.
template <class T> struct Pml {
    T staggered[3][max_radius / 2]; // weights of d per axis, divided by the spacing
    std::vector<Layer<T>> layers;
};

// Whether any layer's first derivative must be advanced before the cells of a part are.
template <class T> bool has_half_points(const Pml<T> &pml, const Part &part);

// Advance the first derivatives (psi) of all layers in a part's half points, from the field "now": one member's share
// of it. Layers that are advanced in their rows are left to PmlRows.
template <class T>
void advance_half_points(const Wavefield<T> &w, const Pml<T> &pml, const Part &part, int64_t member, int64_t members);

// What the layers add to the derivatives in a row: to h, along x and y, where a row lies in one of their layers (else
// null), and to l, along z, in the cells below `low` and from `high` on.
template <class T> struct PmlTerms {
    const T *h, *l;
    int64_t low, high;

    [[gnu::always_inline]] inline void add(int64_t k, Vector<T> &to_h, Vector<T> &to_l) const {
        if (h)
            to_h += load(h + k);
        if (k < low || k + lanes<T> > high)
            to_l += load(l + k);
    }
};

// These terms for a block of rows, made before the rows are computed. One thread's.
template <class T> class PmlRows {
  public:
    // For blocks of at most `rows` rows.
    PmlRows(const Wavefield<T> &w, const Pml<T> &pml, int64_t rows);

    // Advance the second derivatives (zeta) in the cells of a box, and the first ones that are advanced in their rows.
    // Every owned cell must be passed exactly once a step, after the half points around it.
    void prepare(const Wavefield<T> &w, const Box &box);

    // Of a row of that box.
    PmlTerms<T> row(int64_t i, int64_t j) const {
        const int64_t n = index(i, j);
        return {filled[n] ? h.data() + n * pitch : nullptr, l.data() + n * pitch, low, high};
    }

  private:
    const Pml<T> &pml;
    Box block{};
    int64_t pitch, low, high;
    std::vector<T> h, l;
    std::vector<char> filled;

    int64_t index(int64_t i, int64_t j) const {
        return (i - block.lo[0]) * (block.hi[1] - block.lo[1]) + j - block.lo[1];
    }
    template <int R> void prepare_with(const Wavefield<T> &w);
};

} // namespace fathometer::acoustic
