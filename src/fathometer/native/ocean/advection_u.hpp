// Advection, metric terms and lateral friction of momentum in one column.
#pragma once

#include "grid.hpp"

namespace fathometer::ocean {

// G and A L w of levels k < levels_u of a column; work has 5 nz + 1 values.
void momentum_tendency(const Grid &grid, const double *u, const double *v, const double *eta, int64_t block, int64_t x,
                       int64_t y, double *work, double *tendency_u, double *tendency_v);
void lateral_friction(const Grid &grid, double viscosity, const double *u, const double *v, int64_t block, int64_t x,
                      int64_t y, double *friction_u, double *friction_v);

} // namespace fathometer::ocean
