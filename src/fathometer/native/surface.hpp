// The free surface: pressure is zero in the plane z = 0 of the grid.
#pragma once

#include "wavefield.hpp"

namespace fathometer {

// By a team: set the halo above the plane z = 0 to the odd mirror image of "next", so that pressure vanishes in that
// plane.
template <class T> void mirror_surface(const Wavefield<T> &w);

} // namespace fathometer
