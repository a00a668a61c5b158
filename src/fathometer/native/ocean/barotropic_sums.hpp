// Scalar products of rows: plain, and such that do not depend on the order of their terms.
//
// Plain: each row in eight lanes, then the rows in their order: the same for any number of threads.
//
// Exact (after Demmel & Nguyen 2013, Proc. IEEE ARITH 21): a term x = v_i w_i, rounded once, is cut at fixed powers of
// two,
//
//     x = a u + b 2^-40 u + rest,    |x| < limit = 2^40 u,
//
// and the integers a, b are added, which is exact. Adding 1.5 2^52 u to x leaves a in the lowest bits of the sum. The
// limit belongs to a sum and goes by what is known on all ranks: its last values, or its largest term. Where a term is
// not below the limit, or the sum so far below it that its bits are lost, the sum is not valid and is made anew from
// the largest term.
#pragma once

#include <cstdint>
#include <vector>

#include "barotropic_blocks.hpp"

namespace fathometer::ocean {

constexpr int most_sums = 3; // at once

class Sums {
  public:
    // products: how many different ones there are.
    Sums(const WaterRows &rows, bool exact, int products);

    const bool exact;

    // Which products follow, by number.
    void begin(const int *products, int count);

    // Add v w of the cells of a row to the sum number n of those begun; every row is added once.
    void add(int n, const WaterRow &row, int64_t number, const double *v, const double *w);

    // Local sums: `plain` (count), or `limbs` (2 count + 1), whose last is how many terms were beyond their limits.
    void end(double *plain, int64_t *limbs);

    // Largest |v w| of a row, infinite where one is not finite.
    static double largest(const WaterRow &row, const double *v, const double *w);

    // Forget all limits. Set that of a product by its largest term, the same on all ranks.
    void forget();
    void set_limit(int product, double largest_term);

    // The sum of all ranks' limbs; whether it is valid, `again` taking what there is. Sets the limit of the next one.
    bool value(int product, const int64_t *limbs, bool again, double &sum);

  private:
    struct Window {
        double limit, upper, lower; // u and 2^-40 u
        int headroom, last;         // limit over the value expected, exponent of the last value, powers of two
        bool known, valued;         // whether there is a limit, a last value
    };

    void set(Window &window, int exponent);

    const WaterRows &rows;
    std::vector<Window> windows;
    std::vector<double> row_sums;    // (rows, most_sums)
    std::vector<uint64_t> row_limbs; // (rows, most_sums, 3): two limbs, terms beyond the limit
    int begun[most_sums], count = 0;
};

} // namespace fathometer::ocean
