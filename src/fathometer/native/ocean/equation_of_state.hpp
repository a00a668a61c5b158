// Density of sea water, and hydrostatic pressure.
//
// Wright (1997, J. Atmos. Oceanic Technol. 14, 735-740), with the coefficients for -2 to 30 °C, salinities from 28 to
// 38 and pressures to 5e7 Pa: temperature is potential, in °C, pressure in Pa,
//
//     rho = (p + p0) / (lambda + alpha0 (p + p0))
#pragma once

#include "grid.hpp"

namespace fathometer::ocean {

// What density takes of temperature and salinity. V is double or a vector of them.
template <class V> struct Wright {
    V p0, lambda, alpha0;

    Wright(V t, V s)
        : p0(5.790749e8 + 5.944068e5 * s + t * (3.516535e6 + t * (-4.002714e4 + 2.084372e2 * t) - 9.643486e3 * s)),
          lambda(1.704853e5 - 2.302158e2 * s + t * (7.904722e2 + t * (-7.984422 + 5.140652e-2 * t) - 3.079464 * s)),
          alpha0(7.057924e-4 + 3.480336e-7 * t - 1.112733e-7 * s) {}

    // Density is numerator / denominator.
    V numerator(double pressure) const { return p0 + pressure; }
    V denominator(double pressure) const { return lambda + alpha0 * (p0 + pressure); }
};

// Kilograms in a cubic metre, n values.
void wright_density(int64_t n, const double *temperature, const double *salinity, const double *pressure,
                    double *density);

// Hydrostatic pressure of rho / rho0 - 1, over rho0 (m²/s²), at the levels' centres; of owned cells and their
// neighbours to the east and north. tracers (count, cells): temperature and salinity first.
//
//     p_0 = g r_0 (dz_0 / 2 + eta),  p_k = p_(k-1) + g (r_(k-1) dz_(k-1) + r_k dz_k) / 2
//
// Density is taken at the pressure that water of density rho0 has at the level's centre at rest.
void pressure(const Grid &grid, const Numbers &numbers, const double *tracers, const double *eta, double *p);

} // namespace fathometer::ocean
