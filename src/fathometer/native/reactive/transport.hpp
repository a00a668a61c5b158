// A step of reactive transport in finite volumes, backward Euler: residual and blocks of its Jacobian.
//
//     r_j = (Psi_j - Psi_old_j + f sum over faces of outgoing F_j - S_j) / scale_j
//     F_j = q Psi_face,j - g (Psi_right,j - Psi_left,j)
//
// with totals Psi (mol/kg of water), f = dt / (phi V) (s/m³), flux q of volume towards larger coordinates and
// conductance g of a face (m³/s), and what reactions give in the step, S_j = dt / (phi rho) sum nu_j R (mol/kg). A face
// between cells has
//
//     upwind:   the value U of the cell that the flow comes from
//     central:  the mean of both
//     limited:  U + L,  L = a b / (a + b) where a b > 0, else 0,  a = U - UU,  b = D - U
//
// D lying downstream and UU upstream of U: van Leer's limiter (1974, J. Comput. Phys. 14), L = psi(b/a) a / 2. A face
// of the domain has the value outside where flow enters, and the cell's own where it leaves or none is given outside. A
// value outside holds at the face, half a cell away, so that as UU it counts as 2 (U - UU).
// Where the charges z of the components are given, the L of one of them, `balanced`, follows from the others, so that
// sum z L = 0: water without charge stays so, which limiters of each component on its own would not see to.
//
// Arrays have axes x, y, z and components last. Those of the ghosted block have `ghosted` cells, `low` of which precede
// the `owned` ones along each axis; faces along an axis are one more than owned cells. A cell beyond the ghosted block
// counts as outside without a value.
#pragma once

#include <cstdint>

namespace fathometer::reactive {

enum class Scheme { upwind, central, limited };
enum Kind : uint8_t { inside, fixed, open }; // a cell of the domain; outside with a value, without one

struct Block {
    int64_t ghosted[3], owned[3], low[3];
    int components;
    Scheme scheme;
    const double *totals;         // (ghosted, n)
    const uint8_t *kind;          // (ghosted)
    const double *factor;         // (owned)
    const double *flux[3];        // of the faces along each axis
    const double *conductance[3]; // the same
    const double *inverse_scale;  // (n)
    const double *balance;        // (n): L_balanced = sum balance_j L_j, 0 for j = balanced
    int balanced;                 // -1: none
};

// old, reaction, result: (owned, n).
void residual(const Block &block, const double *old, const double *reaction, double *result);

// Entries of a row: the cell; its neighbours at -x, +x, -y, +y, -z, +z; with `limited` those behind them in the same
// order.
inline int entries(Scheme scheme) { return scheme == Scheme::limited ? 13 : 7; }

// Rows of the cells in the planes begin..end of x: columns (cells, entries), numbers of cells in the ghosted block, -1
// where no cell of the domain is; values (cells, n, entries, n), d r_j / d u_k.
// derivative (ghosted, n, n): d Psi_j / d u_k; reaction_derivative (owned, n, n): d S_j / d u_k.
void jacobian(const Block &block, const double *derivative, const double *reaction_derivative, int64_t begin,
              int64_t end, int32_t *columns, double *values);

} // namespace fathometer::reactive
