// Vertical friction, drag and rotation of columns side by side: complex tridiagonal systems, w = u + i v,
//
//     h_k (1 + i turn) w_k + c_k (w_k - w_(k-1)) + c_(k+1) (w_k - w_(k+1)) + [drag w_k at the bottom]
//         = h_k r_k + [wind at the top],    c_k = dt nu / (h_(k-1) + h_k) * 2
//
// eliminated from the top to the bottom. The real part is diagonally dominant: no pivoting.
#pragma once

#include "columns.hpp"
#include "grid.hpp"

namespace fathometer::ocean {

struct FrictionColumns {
    int64_t levels[width];
    double top[width];                   // h_0; all others are those of the grid
    double turn[width], drag[width];     // f dt / 2; dt times drag's velocity
    double wind_u[width], wind_v[width]; // dt times stress over density
    double sum_u[width], sum_v[width];   // the result: sum h w
};

class Friction {
  public:
    explicit Friction(int64_t padded_levels)
        : u(padded_levels), v(padded_levels), coupling(padded_levels + 1), inverse_u(padded_levels),
          inverse_v(padded_levels) {}

    // dt_viscosity = dt nu. The columns (width, padded levels) of u and v: r, replaced by w; 0 below the bottom.
    void solve(const Grid &grid, double dt_viscosity, FrictionColumns &columns, double *right_u, double *right_v);

  private:
    std::vector<Lanes> u, v, coupling, inverse_u, inverse_v;
};

} // namespace fathometer::ocean
