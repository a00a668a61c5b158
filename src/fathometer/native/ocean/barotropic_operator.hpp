// The operator of the surface's change: A d = area d - k div(H grad d), k = theta^2 g dt^2, nine points.
//
// At the corner of the cells a (south-west), b (south-east), c (north-west), d (north-east)
//
//     grad_x = ((b - a) + (d - c)) / (2 dx_u),    grad_y = ((c - a) + (d - b)) / (2 dy),
//
// and div is minus the adjoint, so that A is the gradient of half the sum of area d^2 and k H dx_u dy |grad|^2. With
// X = H k dy / (4 dx_u) ((b - a) + (d - c)), Y = H k dx_u / (4 dy) ((c - a) + (d - b)) a corner adds
// -X-Y, X-Y, Y-X, X+Y to its four cells. Only H is stored for each corner; on land it is zero.
#pragma once

#include <vector>

#include "barotropic_blocks.hpp"
#include "barotropic_sums.hpp"

namespace fathometer::ocean {

// The products whose sums are made while the result is at hand: of arrays v[n] and w[n].
struct Products {
    int count = 0;
    int number[most_sums];
    const double *v[most_sums], *w[most_sums];
};

class SurfaceOperator {
  public:
    // All (blocks, ny): area of cells, m2; dy / (4 dx_u) and dx_u / (4 dy). depth: at rest at corners (blocks, nx, ny).
    SurfaceOperator(const WaterRows &rows, const double *area, const double *ratio_x, const double *ratio_y,
                    const double *depth);

    // k, m2: then H is the depth at rest.
    void scale(double k);

    // H with the mean of the four eta around each corner.
    void surface(const double *eta);

    // to = A from, on cells of water; from's halo of one cell is read. Then the products.
    void apply(const double *from, double *to, const Products &products, Sums &sums) const;

    // to = of - A from.
    void residual(const double *of, const double *from, double *to) const;

    // Entries of A: of the cell at `place` of the row along y numbered `row` (block nx + x), and between it and its
    // neighbours at x + 1, at y + 1, at both, and between those at x + 1 and at y + 1.
    struct Entries {
        double own, x, y, diagonal, other_diagonal;
    };
    Entries entries(int64_t block, int64_t x, int64_t y) const;

  private:
    template <class Finish> void over(const double *from, const Finish &finish) const;

    const WaterRows &rows;
    std::vector<double> area, ratio_x, ratio_y, depth;
    std::vector<double> across, along; // k dy / (4 dx_u), k dx_u / (4 dy)
    std::vector<double> h;
};

} // namespace fathometer::ocean
