// Incompressible flow on a staggered grid: rates of velocity and temperature, halos at sides, and what the projection
// onto velocities without divergence needs, second order in space (Harlow & Welch 1965, Phys. Fluids 8, 2182).
//
//     du/dt = -div(u u) + nu lap(u) + a + l (T - T0) - grad(p),   div(u) = 0,   dT/dt = -div(u T) + kappa lap(T)
//
// The velocity u_a stands at the lower face of a cell along axis a, pressure and temperature at its centre. Arrays have
// the axes field, z, y, x, with a halo of one cell on each side of each axis that there is; in two dimensions there is
// no z. Fields are the velocities along x, y (, z), then the temperature, if there is one.
#pragma once

#include <cstdint>

namespace fathometer::flow {

struct Block {
    int dims;
    int64_t cells[3], stride[3], field; // owned cells along x, y, z; doubles from one to the next; of a whole field
    int64_t origin;                     // the first owned cell
    double spacing[3];
    // By axis: the first of a block's lower faces whose velocity follows from a rate, and the first one that a gradient
    // corrects; whether the upper face of the last cell is corrected too.
    int64_t first[3], corrected[3], beyond[3];
};

struct Fluid {
    bool heated;                              // there is a temperature
    double viscosity, diffusivity, reference; // m²/s; K
    double push[3], lift[3];                  // acceleration, m/s²; of a kelvin more than the reference, m/s²/K
};

// The weights of a stage, s: next = u + now rate + before rate of the stage before.
struct Stage {
    double now, before;
};

// rate: in with `before` that of the stage before, out this one's. next: none, only rates are wanted.
void predict(const Block &block, const Fluid &fluid, const double *u, double *rate, double *next, Stage weights);

// What a velocity u at the open side of an axis becomes, its rate being that of a wave which leaves with a speed.
// side: 0 the lower, 1 the upper one.
void leave(const Block &block, int axis, int side, double speed, const double *u, double *rate, double *next,
           Stage weights);

// The divergence of each owned cell (nz, ny, nx), over `scale`.
void divergence(const Block &block, const double *u, double scale, double *result);

// Takes the gradient of a potential with halo from the velocities.
void correct(const Block &block, const double *potential, double *u);

// By row of owned cells (nz, ny): the largest sum of Courant numbers over time step, and the largest divergence.
constexpr int maxima = 2;
void limits(const Block &block, const double *u, double *row_maxima);

// By row of owned cells (nz, ny): sums of kinetic energy, of dissipation and of the temperature.
constexpr int sums = 3;
void totals(const Block &block, const Fluid &fluid, const double *u, double *row_sums);

// Magnitude of the vorticity at the centres of owned cells, of the means of its components at their edges.
void vorticity(const Block &block, const double *u, double *result);

// What halo cells next to a side are, along one axis, over the whole of the other ones.
//
//     wrap     those at the other side        mirror   sign * the cell inside + value
//     face     value, and it belongs to the lower face of that cell: on the lower side of the first owned cell
enum class Fill : int { wrap, mirror, face };

// value: one for each cell of the side, halos included, or none: `constant` for all.
void fill(const Block &block, double *field, int axis, int side, Fill kind, double sign, double constant,
          const double *value);

// Solves (x[k+1] - 2 x[k] + x[k-1]) / h² - lambda x[k] = d[k] in place, for columns k side by side (n, columns), with
// ends: x beyond an end is sign[end] times x at it (1: no gradient there, -1: zero at the face), or both are joined. A
// column with lambda = 0 and no end that is zero has a solution up to a constant: that with the mean 0; the mean of d
// is left out.
void solve_columns(int64_t n, int64_t columns, double spacing, bool joined, const double (&sign)[2],
                   const double *lambda, double *x);

} // namespace fathometer::flow
