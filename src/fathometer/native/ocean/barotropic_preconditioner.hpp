// Preconditioners: approximate inverses of the operator at rest that do not depend on how the grid is cut.
//
// Diagonal: 1 / A_ii. Blocks: of tiles of the grid, of n x n cells from multiples of n on, the matrix restricted to a
// tile is factored by Cholesky's method with bands, L L^T with n + 1 subdiagonals, cells numbered with y fastest. Eight
// tiles are solved at once, a lane each. Places of a tile beyond the grid are rows of the identity.
#pragma once

#include <vector>

#include "barotropic_operator.hpp"

namespace fathometer::ocean {

class Preconditioner {
  public:
    // tile: n; 0: the diagonal. Bounds of blocks are multiples of n.
    Preconditioner(const WaterRows &rows, int64_t tile, const uint8_t *wet);

    // Of an operator whose H is the depth at rest.
    void factor(const SurfaceOperator &at_rest);

    bool diagonal() const { return tile == 0; }
    const double *inverse() const { return inverse_diagonal.data(); }

    // to = M from on cells of water.
    void apply(const double *from, double *to) const;

  private:
    static constexpr int lanes = 8;

    // Cells [x, x + nx) x [y, y + ny) of a block; nx = 0: none.
    struct Tile {
        int64_t block, x, y, nx, ny;
    };

    void factor_batch(const SurfaceOperator &at_rest, int64_t batch);
    // A batch's cells of a vector to (unknowns, lanes) and back.
    void gather(int64_t batch, const double *from, double *scratch) const;
    void scatter(int64_t batch, const double *scratch, double *to) const;
    void solve_batch(int64_t batch, double *scratch) const;
    int64_t start(int64_t batch, int lane, int64_t x) const {
        const Tile &t = tiles[batch * lanes + lane];
        return (t.block * rows.nx + t.x + x) * rows.ny + t.y;
    }
    int64_t unknowns() const { return tile * tile; }
    int64_t band() const { return tile + 1; }
    // Of a row of the factor, see barotropic_bands.hpp.
    int64_t row_size() const { return (band() + 1) * lanes; }

    const WaterRows &rows;
    const int64_t tile;
    std::vector<double> inverse_diagonal;
    std::vector<Tile> tiles;     // filled up to whole batches
    std::vector<uint8_t> whole;  // of a batch: tiles of 8 x 8 cells of which none goes beyond the grid
    std::vector<double> factors; // (batches, unknowns, band + 1, lanes)
};

} // namespace fathometer::ocean
