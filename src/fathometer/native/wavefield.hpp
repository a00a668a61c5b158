// The arrays of one rank's part of a wavefield, and how they lie in memory.
//
// Field arrays are [x, y, z] with a halo on every axis and z contiguous; the owned cell (0, 0, 0) is at `origin`.
// Model arrays hold owned cells only. A two-dimensional run has one y plane and no y halo.
#pragma once

#include <cstdint>
#include <vector>

namespace fathometer {

using std::int64_t;

constexpr int max_radius = 8;

// Half-open range of owned cells on each axis.
struct Box {
    int64_t lo[3];
    int64_t hi[3];
};

// One absorbing side: a convolutional perfectly matched layer of one axis, see stretch.hpp.
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

template <class T> struct Wavefield {
    int radius;                     // R: the stencil reaches R cells, its order is 2R
    bool has_y;                     // false in two dimensions
    int fields;                     // 1 isotropic (p), 2 VTI (u, v)
    int64_t n[3];                   // owned cells
    int64_t stride[2];              // strides of x and y in fields, in elements
    int64_t origin;                 // offset of owned cell (0, 0, 0) in fields
    int64_t model_stride[2];        // strides of x and y in model arrays
    T *buffer[2][2];                // [field][time level]
    int level;                      // which time level is "now"; the other is "before" and becomes "next"
    const T *model[3];              // dt^2 M: isotropic {m}, VTI {m11, m12, m22}
    T weights[3][max_radius + 1];   // second derivative per axis, divided by the spacing squared
    T staggered[3][max_radius / 2]; // first derivative at half points per axis, divided by the spacing
    const T *damping[3];            // eta dt per axis (a sponge), or null
    bool free_surface;              // pressure is zero in the plane z = 0
    bool cut[3][2];                 // axis, low and high side: the cells beyond belong to another rank
    int64_t exchanged;              // planes next to cut sides that travel to the neighbour
    std::vector<Layer<T>> layers;

    const T *now(int field) const { return buffer[field][level] + origin; }
    T *next(int field) const { return buffer[field][1 - level] + origin; }
    int64_t at(int64_t i, int64_t j) const { return i * stride[0] + j * stride[1]; }
    int64_t model_at(int64_t i, int64_t j) const { return i * model_stride[0] + j * model_stride[1]; }
    // The field on which the second derivative along an axis acts: VTI has x, y on u and z on v.
    int field_of(int axis) const { return fields == 2 && axis == 2 ? 1 : 0; }
};

} // namespace fathometer
