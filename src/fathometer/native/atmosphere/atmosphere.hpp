// Kernels of a spectral model of the atmosphere.
//
// Spherical harmonics are cut off at a total wavenumber T. A rank has some zonal wavenumbers m with all their total
// ones; the rows of an array of coefficients are those of one m after the other, n = m .. T + 1 each: the last one is
// needed by derivatives along latitude alone. A row has a column for each field and level. Numbers are complex, real
// and imaginary parts next to each other. Each coefficient and each place is computed alike wherever it lies: results
// do not depend on shares.
#pragma once

#include <cstdint>
#include <vector>

namespace fathometer::atmosphere {

// Gauss's latitudes and weights: of the northern half, from the pole to the equator. The sines are right to the last
// bit but one or so: Newton's method in long double.
struct Latitudes {
    std::vector<double> sine, weight;
    explicit Latitudes(int64_t count); // even, of both halves
};

// The rows of a rank, and Legendre functions (of norm 1 in -1 .. 1) at the northern latitudes.
struct Sphere {
    int64_t truncation, pairs;
    std::vector<int64_t> waves;    // m
    std::vector<int64_t> begin;    // first row of each m, and the number of all rows
    std::vector<double> epsilon;   // by row: sqrt((n² - m²) / (4 n² - 1)); of row T + 1, too
    std::vector<double> functions; // [row, pair]
    std::vector<double> weight;    // by pair

    Sphere(int64_t truncation, std::vector<int64_t> waves, const Latitudes &latitudes);

    int64_t rows() const { return begin.back(); }
    int64_t total(std::size_t wave, int64_t row) const { return waves[wave] + row - begin[wave]; }
};

// Coefficients [row, columns] to rings [wave, pair, hemisphere, columns], north first; doubles as columns.
void synthesise(const Sphere &sphere, int64_t columns, const double *coefficients, double *rings);

// The way back: sums over latitudes with Gauss's weights.
void analyse(const Sphere &sphere, int64_t columns, const double *rings, double *coefficients);

// Vertical levels of the primitive equations, from the top down, and what their semi-implicit steps need. At the
// interfaces the pressure is A + B p_s.
struct Levels {
    std::vector<double> a, b; // of interfaces
    double gas, kappa;        // R, J/kg/K; R / c_p

    int64_t count() const { return int64_t(a.size()) - 1; }
};

// Columns of the state: vorticity, divergence, temperature of all levels, log of the surface pressure.
inline int64_t state_columns(int64_t levels) { return 3 * levels + 1; }
// Of what is brought to the grid: these without ln p_s, U and V = u and v times the cosine of the latitude; ln p_s and
// its derivatives along longitude and latitude, times that cosine.
inline int64_t grid_columns(int64_t levels) { return 5 * levels + 3; }
// Of what is brought back: N_u, N_v, u T, v T over the cosine; dT/dt but for the divergence of the flux; energy; d ln
// p_s / dt.
inline int64_t rate_columns(int64_t levels) { return 6 * levels + 1; }
// Of winds, temperature and surface pressure on the grid.
inline int64_t weather_columns(int64_t levels) { return 3 * levels + 1; }
// Of what carries tracers: winds, m/s, and how many levels a second air falls through the interfaces between levels.
inline int64_t wind_columns(int64_t levels) { return 3 * levels - 1; }

// Coefficients [row, grid_columns] of a state [row, state_columns].
void spread(const Sphere &sphere, int64_t levels, double radius, const double *state, double *result);

// Rates of change [row, state_columns] from coefficients [row, rate_columns]. surface: geopotential, by row.
void gather(const Sphere &sphere, int64_t levels, double radius, const double *surface, const double *sums,
            double *result);

// What a ring of latitude needs: its sine and cosine, and twice the rotation rate of the planet.
struct Ring {
    double sine, cosine, rotation;
};

// Rates [place, rate_columns] of the columns of air of a ring, [place, grid_columns]. forcing: of winds and temperature
// [place, 3 levels], or none. weather: [place, weather_columns], or none; winds: [place, wind_columns], or none.
void columns_of_ring(const Levels &levels, const Ring &ring, int64_t places, const double *grid, const double *forcing,
                     double *rates, double *weather, double *winds);

// The same of the shallow-water equations, with one level, whose temperature is the geopotential of the surface over
// the ground, and whose ln p_s is 0.
void shallow_ring(const Ring &ring, int64_t places, const double *grid, const double *forcing, double *rates,
                  double *weather, double *winds);

// What a semi-implicit step needs (Hoskins & Simmons 1975). By n, then [level, level], columns first: the inverse of
// the implicit operator; hydrostatic, energy: matrices G and tau, columns first; surface: R T_ref; mass: nu.
struct Implicit {
    const double *inverse, *hydrostatic, *energy, *mass;
    double surface;
};

// A leapfrog step over 2 dt from `before`, with rates of `now`: `before` becomes `now` after the filter, `now` the new
// state. damping: factors by n of vorticity and divergence, and of temperature. filter: of Robert and Asselin.
void leap(const Sphere &sphere, int64_t levels, double radius, double dt, const Implicit &implicit,
          const double *flow_damping, const double *temperature_damping, double filter, const double *rates,
          double *before, double *now);

// What forces columns of air. Times in s, temperatures in K, fluxes in W/m².
struct Physics {
    Levels levels;
    double gravity;
    bool relaxation; // to the temperatures of Held & Suarez; else grey radiation
    bool convection;
    double solar; // constant; of radiation
};

// Columns of results of physics: longwave to space, absorbed shortwave, what the ground takes up, and of convection how
// many times layers were joined.
constexpr int64_t physics_results = 4;

// Forcing [place, 3 levels] of winds and temperature by the weather [place, weather_columns], and results [place,
// physics_results]. sine: of the latitude of each place; sun: cosine of its zenith angle. interval: in which convection
// has to have mixed.
void force_columns(const Physics &physics, int64_t places, const double *sine, const double *sun, double interval,
                   const double *weather, double *forcing, double *results);

// Points that increase, and what cubic polynomials through four neighbours need.
struct Axis {
    std::vector<double> points, scale;

    Axis() = default;
    explicit Axis(std::vector<double> points);
    // Weights of four points from `first` on for a value at a place.
    void weigh(int64_t first, double at, double *weights) const;
};

// The grid on which tracers are carried: colatitudes of all latitudes from the north, with two beyond each pole;
// intervals of longitude; nominal pressures of levels.
struct Transport {
    int64_t longitudes, latitudes;
    Axis colatitudes, along, heights;
    std::vector<double> interfaces;
    std::vector<double> sine, cosine;           // by pair
    std::vector<double> east_sine, east_cosine; // by longitude

    // interfaces: nominal pressures from the top down, of any unit.
    Transport(int64_t longitudes, int64_t latitudes, std::vector<double> interfaces);
    int64_t levels() const { return int64_t(interfaces.size()) - 1; }
};

// Tracers [hemisphere, longitude, tracer, level] of a pair of latitudes after a step, s. room: winds half way through
// the step, and tracers before it, [slot, hemisphere, longitude, wind_columns + tracers levels], of pairs from `first`
// on; std::out_of_range where air comes from others.
void carry_pair(const Transport &grid, int64_t pair, int64_t first, int64_t slots, int64_t tracers, double radius,
                double step, const double *room, double *result);

} // namespace fathometer::atmosphere
