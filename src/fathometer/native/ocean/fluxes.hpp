// Volume fluxes through the faces of cells, and the surface height that follows from them.
//
// The velocity that transports is u + shift on wet levels. With a = h_u (u + shift), h_u including the surface height,
// the fluxes through the east and north face of cell (i, j) are (m³/s)
//
//     F_x = dy/2 (a_(i, j) + a_(i, j-1)),    F_y = dx_u,j / 2 (a_(i, j) + a_(i-1, j)),
//
// and eta changes by -dt / area times the sum of what leaves a column.
#pragma once

#include "grid.hpp"

namespace fathometer::ocean {

struct Transport {
    const double *u, *v, *shift_u, *shift_v, *eta;
    double *flux_x, *flux_y; // through east and north faces
    double *eta_next;        // of owned cells
};

// Fluxes that the passes of tracers read: faces of owned cells, F_x also of two rows beyond them on both sides, F_y of
// two columns. u, v and shift are read in three rings around owned points, eta too.
void volume_fluxes(const Grid &grid, double dt, const Transport &transport);

// Largest parts of a cell's water that leave it in dt along x or y, and along z, of owned cells: 1 would empty it in a
// pass of tracers. Whether all fluxes and heights are finite.
struct Courant {
    double lateral, vertical;
    bool finite;
};
Courant courant(const Grid &grid, double dt, const double *flux_x, const double *flux_y, const double *eta);

} // namespace fathometer::ocean
