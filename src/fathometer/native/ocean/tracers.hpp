// A step of the tracers: conservative, split by direction, thickness and content advanced by the same fluxes.
//
// In a pass along x or y, with F_in and F_out through the cell's two faces,
//
//     h' = h - dt / area (F_out - F_in),   h' q' = h q - dt / area (F_out q_out - F_in q_in)
//
// and q at faces from advection.hpp; after both passes vertical.hpp follows. A uniform tracer stays uniform, bounds are
// kept and content is exact. Lateral diffusion is explicit, of the values before the step.
#pragma once

#include "grid.hpp"

namespace fathometer::ocean {

struct TracerStep {
    double dt;
    bool x_first; // then y; else y, then x
    int64_t tracers;
    const double *value;           // (tracers, cells): temperature, salinity, others; two rings around owned cells
    const double *eta, *eta_next;  // two rings; owned
    const double *flux_x, *flux_y; // see fluxes.hpp
    const double *surface_flux;    // (tracers, columns): what enters, tracer times m/s
    double *next;                  // (tracers, cells): of owned cells
};

void tracers(const Grid &grid, const Numbers &numbers, const TracerStep &step);

// flux = given + rate dz_0 (target - value at the surface), of owned columns; rate (tracers), 1/s.
void surface_flux(const Grid &grid, int64_t tracers, const double *value, const double *given, const double *target,
                  const double *rate, double *flux);

} // namespace fathometer::ocean
