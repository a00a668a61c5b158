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

#include "core/active.hpp"
#include "core/region.hpp"
#include "core/simd.hpp"
#include "core/wavefield.hpp"

namespace fathometer::acoustic {

// One absorbing side, of one axis.
template <class T> struct Layer {
    int axis;
    bool first;               // at the first cells of the axis, not the last
    bool in_row;              // axis z, where rows are whole: its psi is advanced with the cells of its row
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

// Whether any layer of an axis has half points in a box, given along the axis in half points, that its rows leave
// alone.
template <class T> bool has_half_points(const Pml<T> &pml, int axis, const Box &box);

// Advance these (psi) where rows are active, from the field "now": one member's share of it.
template <class T>
void advance_half_points(const Wavefield<T> &w, const Pml<T> &pml, int axis, const Box &box, const ActiveRows &active,
                         int64_t member, int64_t members);

} // namespace fathometer::acoustic
