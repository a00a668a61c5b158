// First arrivals of waves: the eikonal equation |grad t| = 1 / speed on a coarse grid, by fast sweeping (Zhao 2005,
// Math. Comput. 74). A node's time comes from the blocks around it, each with a speed of its own:
//
//     sum over axes of ((t - t_neighbour) / h)^2 = 1 / speed^2,   the neighbours along x, y and z at the block's edges
#pragma once

#include <array>
#include <cstdint>

namespace fathometer {

using std::int64_t;

// Lowers `times`, of the nodes, (n[0] + 1, n[1] + 1, n[2] + 1), until no wave arrives earlier; infinite where nothing
// is known. speed: of the blocks, (n[0], n[1], n[2]); spacing: of the nodes, infinite along an axis without waves. By
// the calling thread alone; the sweeps that it took.
int64_t first_arrivals(const double *speed, const std::array<int64_t, 3> &n, const std::array<double, 3> &spacing,
                       double *times);

} // namespace fathometer
