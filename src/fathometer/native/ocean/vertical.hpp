// Tracers along z, in columns side by side: advection, what was added to the content, mixing.
//
// Diffusion is implicit, with the convective coefficient between levels where the upper water, moved to their common
// interface, is heavier. The surface and the bottom are closed; W is what the lateral fluxes leave.
#pragma once

#include "columns.hpp"
#include "equation_of_state.hpp"
#include "grid.hpp"

namespace fathometer::ocean {

struct TracerColumns {
    int64_t levels[width];
    double surface[width]; // eta after the step
    double ratio[width];   // dt / area
    // Columns (width, padded levels), 0 below the bottom.
    std::vector<double> thickness; // after the lateral passes
    std::vector<double> out;       // volume that leaves a level through its sides, m³/s
    std::vector<double> value;     // (tracers, ...): before, then after
    std::vector<double> added;     // (tracers, ...): content, tracer times m
};

class Vertical {
  public:
    Vertical(const Grid &grid, const Numbers &numbers, double dt, int64_t tracers);

    void advance(TracerColumns &columns);

  private:
    void advect(int64_t n);
    void mix(int64_t n);
    Lanes heavier_above(int64_t k) const;

    const Grid &grid;
    const Numbers &numbers;
    double dt;
    int64_t tracers, stride;
    Lanes levels, top, ratio;
    std::vector<Lanes> h, up, value, added, coupling, inverse, courant, through;
};

} // namespace fathometer::ocean
