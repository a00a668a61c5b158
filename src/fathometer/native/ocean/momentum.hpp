// Horizontal velocity: explicit tendencies, and a step with rotation and vertical friction taken implicitly.
//
// At a U point with w = u + i v, thickness h of its levels and h_0 = dz_0 + mean of four eta,
//
//     (1 + i f dt/2) w' - dt D w' = (1 - i f dt/2) w + dt (sum_m c_m G_m + A L w - grad p - g grad eta)
//
// G is advection and metric terms of this step and the two before, extrapolated with the weights c (Durran 1991, Mon.
// Weather Rev. 119, 702-720); L lateral friction, forward in time; D vertical friction, with the wind's stress at the
// top and drag at the bottom: a tridiagonal system with complex numbers in every column.
//
// Advection (Bryan 1969, J. Comput. Phys. 4, 347-376): volume fluxes F out of a U cell are means of those of the four
// cells around it, and its tendency is -sum F (u_n - u_0) / (2 V) over faces with neighbours n. u is zero in rock, so
// that momentum's advection changes no kinetic energy. Metric terms u v tan/R, -u² tan/R. Friction on a sphere is
// Bryan's: L u = lap u + (1/R² - tan²/R²) u - 2 tan/R dv/dx, L v = lap v + (1/R² - tan²/R²) v + 2 tan/R du/dx. Walls
// have no slip.
#pragma once

#include "grid.hpp"

namespace fathometer::ocean {

struct MomentumStep {
    double dt, theta;
    double weights[3];
    const double *u, *v, *eta, *p;
    const double *stress_x, *stress_y;     // of the wind at U points, N/m²
    double *tendency_u[3], *tendency_v[3]; // G of this step, which is computed, and of the two before
    double *u_next, *v_next;               // w'
    // (columns): the transport theta sum h w' + (1 - theta) sum h w; (1 - theta) (mean w - mean w').
    double *transport_u, *transport_v, *shift_u, *shift_v;
};

// Of owned U points; u, v, eta and p are read in one ring around them.
void momentum(const Grid &grid, const Numbers &numbers, const MomentumStep &step);

// Adds -dt theta g grad d to u, v of owned U points, and what follows from it for the shift; d is read one cell
// further.
void correct(const Grid &grid, const Numbers &numbers, double dt, double theta, const double *d, double *u, double *v,
             double *shift_u, double *shift_v);

} // namespace fathometer::ocean
