#include "advection_u.hpp"

namespace fathometer::ocean {

void momentum_tendency(const Grid &grid, const double *u, const double *v, const double *eta, int64_t block, int64_t x,
                       int64_t y, double *work, double *tendency_u, double *tendency_v) {
    const int64_t nz = grid.nz, column = grid.column(block, x, y), n = grid.levels_u[column];
    const int64_t dx = grid.ny * nz, dy = nz;
    const double *u0 = u + column * nz, *v0 = v + column * nz;
    const double *width = grid.dx_u.data() + block * grid.ny + y;
    int64_t deepest = 0; // water moves through the sides of a cell below its own bottom
    for (int64_t i = -1; i <= 1; ++i)
        for (int64_t j = -1; j <= 1; ++j)
            deepest = std::max<int64_t>(deepest, grid.levels_u[column + i * grid.ny + j]);

    // Volume fluxes out of the four sides.
    double *east = work, *west = work + nz, *north = work + 2 * nz, *south = work + 3 * nz, *up = work + 4 * nz;
    const double along_x = 0.125 * grid.dy, south_width = 0.125 * width[-1], own_width = 0.125 * width[0],
                 north_width = 0.125 * width[1];
    const auto sides = [&](int64_t k, auto thickness) {
        const double *a = u0 + k, *b = v0 + k;
        const auto row = [&](int i) {
            const double *q = a + i * dx;
            return (thickness(i, -1) * q[-dy] + thickness(i, 1) * q[dy]) + 2 * (thickness(i, 0) * q[0]);
        };
        const auto line = [&](int j) {
            const double *q = b + j * dy;
            return (thickness(-1, j) * q[-dx] + thickness(1, j) * q[dx]) + 2 * (thickness(0, j) * q[0]);
        };
        const double middle = row(0), here = own_width * line(0);
        east[k] = along_x * (middle + row(1));
        west[k] = along_x * (row(-1) + middle);
        north[k] = here + north_width * line(1);
        south[k] = south_width * line(-1) + here;
    };
    const double *dz = grid.thickness.data();
#pragma omp simd
    for (int64_t k = 0; k < deepest; ++k) {
        const double h = dz[k];
        sides(k, [h](int, int) { return h; });
    }
    double top[3][3];
    for (int64_t i = -1; i <= 1; ++i)
        for (int64_t j = -1; j <= 1; ++j)
            top[i + 1][j + 1] = grid.top_u(eta, column + i * grid.ny + j);
    sides(0, [&](int i, int j) { return top[i + 1][j + 1]; });

    up[deepest] = 0;
    for (int64_t k = deepest - 1; k > 0; --k)
        up[k] = up[k + 1] - ((east[k] - west[k]) + (north[k] - south[k]));
    up[0] = 0; // the surface moves with the water

    const double metric = grid.tan_over_radius[block * grid.ny + y];
    const double inverse_area = 0.5 / (width[0] * grid.dy);
    const auto tendency = [&](const double *q0, double *result) {
        const double *q_east = q0 + dx, *q_west = q0 - dx, *q_north = q0 + dy, *q_south = q0 - dy;
        const auto lateral = [&](int64_t k) {
            const double q = q0[k];
            return (west[k] * (q_west[k] - q) - east[k] * (q_east[k] - q)) +
                   (south[k] * (q_south[k] - q) - north[k] * (q_north[k] - q));
        };
        if (n == 1) {
            result[0] = inverse_area / top[1][1] * (lateral(0) + up[1] * (0 - q0[0]));
            return;
        }
        result[0] = inverse_area / top[1][1] * (lateral(0) + up[1] * (q0[1] - q0[0]));
#pragma omp simd
        for (int64_t k = 1; k < n - 1; ++k)
            result[k] =
                inverse_area / dz[k] * (lateral(k) + (up[k + 1] * (q0[k + 1] - q0[k]) - up[k] * (q0[k - 1] - q0[k])));
        const int64_t k = n - 1;
        result[k] = inverse_area / dz[k] * (lateral(k) + (up[n] * (0 - q0[k]) - up[k] * (q0[k - 1] - q0[k])));
    };
    tendency(u0, tendency_u);
    tendency(v0, tendency_v);
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
        const double turn = metric * u0[k];
        tendency_u[k] += turn * v0[k];
        tendency_v[k] -= turn * u0[k];
    }
}

void lateral_friction(const Grid &grid, double viscosity, const double *u, const double *v, int64_t block, int64_t x,
                      int64_t y, double *friction_u, double *friction_v) {
    const int64_t nz = grid.nz, column = grid.column(block, x, y), n = grid.levels_u[column], row = block * grid.ny + y;
    const int64_t dx = grid.ny * nz, dy = nz;
    const double *u0 = u + column * nz, *v0 = v + column * nz;
    const double width = grid.dx_u[row], metric = grid.tan_over_radius[row];
    const double along = viscosity / (width * width);
    const double north = viscosity * (grid.dx[row + 1] / (width * (grid.dy * grid.dy)));
    const double south = viscosity * (grid.dx[row] / (width * (grid.dy * grid.dy)));
    const double own = viscosity * (grid.curvature - metric * metric), across = viscosity * metric / width;
    const auto laplacian = [&](const double *q, int64_t k) {
        const double here = q[k];
        return along * ((q[k + dx] - here) + (q[k - dx] - here)) +
               (north * (q[k + dy] - here) + south * (q[k - dy] - here));
    };
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
        friction_u[k] = laplacian(u0, k) + (own * u0[k] - across * (v0[k + dx] - v0[k - dx]));
        friction_v[k] = laplacian(v0, k) + (own * v0[k] + across * (u0[k + dx] - u0[k - dx]));
    }
}

} // namespace fathometer::ocean
