// What a wave equation is to the rest of the kernels. A physics has a folder of its own: a class that derives from
// Physics, and row kernels. All that is done row by row asks it, and nothing else knows an equation, how many fields
// and model arrays it has, or how its sides absorb.
//
// Calls are made once a row or seldomer. What is done for each cell is inline in loops that the physics instantiates
// (row.hpp, points.hpp, imaging.hpp).
#pragma once

#include <array>
#include <memory>

#include "active.hpp"
#include "imaging.hpp"
#include "points.hpp"
#include "prefetch.hpp"
#include "region.hpp"
#include "wavefield.hpp"

namespace fathometer {

// Computes rows, as one thread's own: it has room for what is needed of a row at a time.
template <class T> class RowStepper {
  public:
    virtual ~RowStepper() = default;

    // "next" from "now" in the cells k0..k1 of row (i, j), without sources, and what absorbs in these cells. Every
    // owned cell is passed exactly once a step. `halves`: the half points that rows advance (region.hpp).
    virtual void step(const Wavefield<T> &w, const Box &halves, int64_t i, int64_t j, int64_t k0, int64_t k1,
                      const Prefetch<T> &prefetch) = 0;
};

template <class T> class Physics {
  public:
    const int fields;                        // arrays that are stepped
    const int models;                        // arrays of the medium
    const std::array<int, 3> differentiated; // the field on which the derivatives along x, y and z act
    const int stages;                        // of a time step; each is a step of tiles, sweeps and exchanges
    const int wide;                          // fields that a stage differentiates along x

    Physics(int fields, int models, const std::array<int, 3> &differentiated, int stages = 1, int wide = 1)
        : fields(fields), models(models), differentiated(differentiated), stages(stages), wide(wide) {}
    Physics(const Physics &) = delete;
    virtual ~Physics() = default;

    virtual std::unique_ptr<RowStepper<T>> stepper(const Wavefield<T> &w) const = 0;

    // What lies at the half points of an axis in a box, given in half points along it, and is not advanced by the rows
    // of these cells: whether there is any, and one member's share of advancing it where rows are active.
    virtual bool has_half_points(int axis, const Box &box) const = 0;
    virtual void advance_half_points(const Wavefield<T> &w, int axis, const Box &box, const ActiveRows &active,
                                     int64_t member, int64_t members) const = 0;

    // What points can touch: the fields, and what a physics numbers after them.
    virtual int touched() const { return fields; }

    // Cells that a step reads on either side.
    virtual int64_t reach(const Wavefield<T> &w) const { return w.radius; }

    // Add the sources' values to the cells k0..k1 of row (i, j) of "next". `values[column]` is the source at the time
    // of "now", `scale` 1 / cell volume.
    virtual void inject(const Wavefield<T> &w, const Points<T> &points, const T *values, T scale, int64_t i, int64_t j,
                        int64_t k0, int64_t k1) const = 0;

    // The lines of row (i, j), of "now", of the receivers whose anchor is one of the cells k0..k1. With what adds them
    // up the exact transpose of injection.
    virtual void sample(const Wavefield<T> &w, const Points<T> &points, T *lines, int64_t i, int64_t j, int64_t k0,
                        int64_t k1) const = 0;

    // The free surface at z = 0, in the cells k0..k1 of row (i, j) of "next" and the halo above them.
    virtual void free_surface(const Wavefield<T> &w, int64_t i, int64_t j, int64_t k0, int64_t k1) const = 0;

    // Pressure of the cells k0..k1 of row (i, j) of a time level, to what imaging does with it.
    virtual void image(const Wavefield<T> &w, int level, const Imaging<T> &imaging, int64_t i, int64_t j, int64_t k0,
                       int64_t k1) const = 0;
};

} // namespace fathometer
