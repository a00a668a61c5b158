// Vectors of conjugate gradients and what an iteration does with them, cell by cell, in as few passes as possible.
//
// Names are those of Ghysels & Vanroose (2014, Parallel Comput. 40): solution x, residual r, u = M r, w = A u,
// direction p, s = A p, q = M s, z = A q, m = M w, n = A m, right-hand side b.
#pragma once

#include <vector>

#include "barotropic_operator.hpp"
#include "barotropic_preconditioner.hpp"
#include "barotropic_sums.hpp"

namespace fathometer::ocean {

enum VectorName {
    vector_x,
    vector_r,
    vector_u,
    vector_w,
    vector_p,
    vector_s,
    vector_q,
    vector_z,
    vector_m,
    vector_n,
    vector_b,
    vector_count
};

// Scalar products (b, b), (p, s), (r, u), (w, u), (r, r), and those that are summed together.
enum ProductName { product_bb, product_ps, product_ru, product_wu, product_rr, product_count };
enum SumsName { sums_none, sums_bb, sums_ps, sums_ru_rr, sums_ru_wu_rr, sums_count };
int products_of(SumsName which, int (&products)[most_sums]);

class Gradients {
  public:
    // vectors: (vector_count, blocks, nx, ny), zero on land and outside; of that many elements `stride`.
    Gradients(const WaterRows &rows, const SurfaceOperator &matrix, const Preconditioner &preconditioner, Sums &sums,
              double *vectors);

    // b and x = those given, on cells of water; zero on land. Back: x on cells of water.
    void load(const double *b, const double *x, const uint8_t *wet);
    void unload(double *x, const uint8_t *wet) const;

    void apply(VectorName from, VectorName to, SumsName which);
    void residual(); // r = b - A x
    void precondition(VectorName from, VectorName to);

    // Local sums only: begun and added. The largest terms.
    void dot(SumsName which);
    void largest(SumsName which, double *most) const;

    void pcg_update(double alpha);               // x += alpha p, r -= alpha s, u = M r; sums (r, u), (r, r)
    void pcg_direction(double beta);             // p = u + beta p
    void gear_update(double alpha, double beta); // p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, u = M r
    void pipelined_update(double alpha, double beta); // z = n + beta z, q = m + ..., s = w + ..., p = u + ..., x, r,
                                                      // u -= alpha q, w -= alpha z; sums (r, u), (w, u), (r, r)

  private:
    double *vector(VectorName name) const { return vectors + name * rows.size(); }
    Products products(SumsName which) const;
    Products begin(SumsName which);
    void add(const Products &products, const WaterRow &row, int64_t number);

    const WaterRows &rows;
    const SurfaceOperator &matrix;
    const Preconditioner &preconditioner;
    Sums &sums;
    double *const vectors;
};

} // namespace fathometer::ocean
