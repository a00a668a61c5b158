// Kernels of local gyrokinetics in a flux tube (Frieman & Chen 1982, Phys. Fluids 25, 502), on three layouts of one
// array of complex numbers, which lie as pairs of doubles:
//
//     field lines   [ky, velocity, theta, kx]   all places along the field line; of velocities a share
//     velocities    [ky, velocity, place]       all velocities; of the places (theta, kx) a share
//     modes         [ky, row, kx]               all ky; of the rows (velocity, theta) a share
//
// g is divided by the Maxwellian; h = g + (Z/T) chi, chi = J0 (phi - v A). A velocity is a species, an energy and a
// cosine of the pitch angle, which runs fastest. A place is computed alike wherever it lies: results do not depend on
// shares.
#pragma once

#include <cstdint>
#include <vector>

namespace fathometer::plasma {

// phi (and A; none: electrostatic): [ky, place] of all places of some modes.
struct Potentials {
    const double *phi, *a;
};

// Points and modes of a rank in the layout of field lines.
struct Lines {
    int64_t modes, velocities, points, waves; // ky, velocity, theta, kx
    std::vector<int64_t> shift;               // of kx from one turn of the field line to the next, by ky; 0: periodic
    // [theta, kx, part]: root of B, and one over it. [ky, theta, kx]: omega_D over its part of velocity; and [..,
    // part], a rate, of h. Values of real and imaginary parts stand twice, so that loops are plain.
    std::vector<double> root, inverse;
    std::vector<double> drift, damping;
    std::vector<double> stream, upwind; // by velocity, over the spacing of theta
    std::vector<double> curvature;      // by velocity, times `drift`
    std::vector<double> drive;          // [ky, velocity]
    std::vector<double> charge, speed;  // by velocity: Z/T; along the field line

    int64_t places() const { return points * waves; }
};

// rate += streaming, drift, drive, damping - bracket (none: 0).
void along_lines(const Lines &lines, const double *g, const double *j0, Potentials fields, const double *bracket,
                 double *rate);

// [ky, velocity, sums]: |h|², and Re(h* r) of the terms r of drive (over its factor `drive`), of upwinding and of
// damping, over kx and theta with the weight 1/B.
constexpr int64_t line_sums = 4;
void sum_lines(const Lines &lines, const double *g, const double *j0, Potentials fields, double *sums);

// Velocities of all species and a rank's places.
struct Velocities {
    int64_t modes, shells, angles, places;  // ky; species and energies; cosines of the pitch angle
    std::vector<double> mirror, scattering; // [angle, angle]
    std::vector<double> mirror_speed, nu;   // by shell; nu: none: no collisions
    std::vector<double> gradient;           // of ln B along theta, by place
    std::vector<double> charge, speed;      // by velocity: Z/T; along the field line
    std::vector<double> weight;             // by velocity: of Z h in the velocity sums

    int64_t velocities() const { return shells * angles; }
};

// [field, ky, place]: sums over velocities of Z J0 g, and of Z v J0 g.
void sum_velocities(const Velocities &all, const double *g, const double *j0, int64_t fields, double *sums);

// rate = mirror force and collisions.
void mix_velocities(const Velocities &all, const double *g, const double *j0, Potentials fields, double *rate);

// [ky, place]: sums over velocities of T Re(h* C(h)). energy: weights by velocity.
void sum_collisions(const Velocities &all, const double *g, const double *j0, Potentials fields, const double *energy,
                    double *sums);

// Fourier modes of the bracket: kx (2 last + 1 of them, from -last on) and ky (from 0 on), and the larger grid on which
// products are made, without what would be folded back onto the modes.
struct Plane {
    int64_t modes, waves, points; // ky, kx; theta: a row is a velocity and a theta
    int64_t nx, ny;               // of the larger grid
    std::vector<double> kx, ky;
    std::vector<double> speed; // along the field line, by velocity

    int64_t last() const { return (waves - 1) / 2; }
};

// Derivatives of rows of a rank: d chi/dx, d g/dy, d chi/dy, d g/dx: [4, row, ky, nx], complex, of the transform along
// x; first: of a rank's rows among all. from, count: rows of the rank.
constexpr int64_t derivatives = 4;
void spread(const Plane &plane, int64_t rows, int64_t first, int64_t from, int64_t count, const double *g,
            const double *j0, Potentials fields, double *result);

// product [row, ny, nx] = the bracket on the grid, of derivatives [4, row, ny, nx]. By row: the largest rate at which
// the flow across the field carries the shortest waves.
void multiply(const Plane &plane, int64_t count, const double *derivative, double *product, double *rates);

// Rows of the bracket from their transforms [row, ky, nx].
void collect(const Plane &plane, int64_t rows, int64_t from, int64_t count, const double *transform, double *bracket);

// after = before + step * rate where `after` is given; sum = from + part * rate, where `sum` is given. Any may be the
// same array.
void add_rate(int64_t count, const double *before, const double *rate, double step, double *after, const double *from,
              double part, double *sum);

} // namespace fathometer::plasma
