// Elastic waves as velocity and stress on a staggered grid, of order 4 in space and 2 in time:
//
//   stage 0   v     += dt / rho (div sigma)          from t - dt/2 to t + dt/2
//   stage 1   sigma += dt (C : grad v)               from t to t + dt
//
// (Virieux 1986, Geophysics 51(4); Graves 1996, Bull. Seism. Soc. Am. 86(4).) Both in place: a stage writes the fields
// that it reads at their own cells alone, so "now" and "next" are one array and the order of tiles is that of any other
// physics. Node (i, j, k) carries the normal stresses; the other fields lie half a cell further along the axes in their
// names. In two dimensions there are no vy, syy, sxy, syz.
//
// Free surface: the plane k = 0. Derivatives along z next to it and what keeps the tractions zero there are those of
// seismic/elastic/closure.py.
#pragma once

#include <memory>

#include "contact.hpp"
#include "core/physics.hpp"
#include "layers.hpp"
#include "sloping.hpp"

namespace fathometer::elastic {

// Attenuation: a memory variable of each stress, of one of three mechanisms by the cell's place; scheme and symbols in
// seismic/elastic/medium.py.
template <class T> struct Relaxation {
    std::vector<T *> zeta; // [stress], laid out as model arrays; empty: none
    std::vector<T> decay;  // of the cells of a row and two more, in turns
    std::vector<T> rest;   // 1 - decay, likewise
    int64_t first = 0;     // mechanism of owned cell (0, 0, 0)
    // Where the mechanisms of row (i, j) begin in `decay` and `rest`.
    int64_t row(int64_t i, int64_t j) const { return (first + i + j) % 3; }
};

// Largest velocities that were seen in a plane of nodes, of the owned columns.
template <class T> struct Peaks {
    int64_t plane = -1; // none
    T *horizontal = nullptr, *vertical = nullptr;
};

constexpr std::int64_t closure_rows = 8, closure_columns = 10;

// Derivatives along z next to a free surface, over the spacing: [to half points][column][row], zero rows beyond.
template <class T> struct Closure {
    alignas(64) T table[2][closure_columns][16] = {};
};

template <class T> class Elastic : public Physics<T> {
  public:
    T weights[3][2]{};  // of the derivative between two neighbours and the two beyond, per axis, over the spacing
    Closure<T> closure; // below a free surface
    std::vector<Layer<T>> layers;
    Relaxation<T> relaxation;
    Peaks<T> peaks;
    Contact<T> contact;
    std::unique_ptr<SlopingFloor<T>> floor; // null: none

    using Physics<T>::Physics;
    int touched() const override { return this->fields + (floor ? 1 : 0); } // the water's vz in it
    bool has_half_points(int, const Box &) const override { return false; }
    // A closure reads further along z; where rows are whole that is no matter.
    int64_t reach(const Wavefield<T> &w) const override {
        return w.free_surface && w.cut[2][1] ? closure_rows : w.radius;
    }
    void advance_half_points(const Wavefield<T> &, int, const Box &, const ActiveRows &, int64_t,
                             int64_t) const override {}
};

template <class T> std::unique_ptr<Elastic<T>> in_two_dimensions(bool relaxing);
template <class T> std::unique_ptr<Elastic<T>> in_three_dimensions(bool relaxing);

} // namespace fathometer::elastic
