// The arrays of one rank's part of a wavefield, and how they lie in memory.
//
// Field arrays are [x, y, z] with a halo on every axis and z contiguous; the owned cell (0, 0, 0) is at `origin`.
// Model arrays hold owned cells only. A two-dimensional run has one y plane and no y halo.
#pragma once

#include <array>
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

template <class T> class Physics;

template <class T> struct Wavefield {
    const Physics<T> *physics;              // the wave equation, with what absorbs at the sides
    int radius;                             // R: the stencil reaches R cells, its order is 2R
    bool has_y;                             // false in two dimensions
    int64_t n[3];                           // owned cells
    int64_t stride[2];                      // strides of x and y in fields, in elements
    int64_t origin;                         // offset of owned cell (0, 0, 0) in fields
    int64_t model_stride[2];                // strides of x and y in model arrays
    std::vector<std::array<T *, 2>> buffer; // [field][time level]
    int level;                              // which time level is "now"; the other is "before" and becomes "next"
    std::vector<const T *> model;           // what the physics says
    T weights[3][max_radius + 1];           // second derivative per axis, divided by the spacing squared
    bool free_surface;                      // pressure is zero in the plane z = 0
    bool cut[3][2];                         // axis, low and high side: the cells beyond belong to another rank
    int64_t exchanged;                      // planes next to cut sides that travel to the neighbour

    const T *now(int field) const { return buffer[field][level] + origin; }
    T *next(int field) const { return buffer[field][1 - level] + origin; }
    int64_t at(int64_t i, int64_t j) const { return i * stride[0] + j * stride[1]; }
    int64_t model_at(int64_t i, int64_t j) const { return i * model_stride[0] + j * model_stride[1]; }
};

} // namespace fathometer
