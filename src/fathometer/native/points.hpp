// Sources and receivers off the grid: each spreads over a small box of cells with separable weights.
#pragma once

#include "wavefield.hpp"

namespace fathometer {

constexpr int max_weights = 8; // per axis

// Points of one rank. Cell indices count from the rank's first owned cell and may lie in the halo (sampling) or
// outside the owned cells (injection: another rank adds those). Weights are kept per axis: [point][axis][max_weights].
//
// Rows of cells know the points that concern them, so that whoever computes a row injects and samples there: sources
// stand in every row of owned cells that their box touches, receivers in one row, that of their anchor cell.
template <class T> struct Points {
    std::vector<int64_t> first;  // [point][axis] first cell of the box
    std::vector<int32_t> count;  // [point][axis] cells of the box, 1 where the point lies on the grid
    std::vector<T> weight;       // [point][axis][max_weights]
    std::vector<int64_t> column; // which series of the survey belongs to the point
    int64_t rows_y = 0;          // rows in a plane of owned cells
    std::vector<int64_t> start;  // [row, plus one] where a row's points begin in `point`
    std::vector<int32_t> point;  // rows' points, in the points' order
    std::vector<int32_t> anchor; // [point] receivers: z index of the anchor cell
    int64_t reach = 0;           // receivers: cells between an anchor and the ends of its box, at most

    int64_t size() const { return int64_t(column.size()); }

    // Fill what rows know, for a block of n owned cells.
    void sort_into_rows(const int64_t (&n)[3], bool receivers);

    // Calls f(p) for the points of row (i, j), in their order.
    template <class F> void in_row(int64_t i, int64_t j, F f) const {
        const int64_t row = i * rows_y + j;
        for (int64_t e = start[row]; e < start[row + 1]; ++e)
            f(int64_t(point[e]));
    }
};

// Add the sources' values to the cells k0..k1 of row (i, j) of the field "next": w += dt^2 M f / (1 + eta dt), f in
// equal parts to u and v, divided by the cell volume (`scale` = 1 / volume). `values[column]` is f at the time of
// "now".
template <class T>
void inject(const Wavefield<T> &w, const Points<T> &points, const T *values, T scale, int64_t i, int64_t j, int64_t k0,
            int64_t k1);

// values[column] = pressure of the field "now", p or (u + v) / 2, at the points whose anchor is one of the cells k0..k1
// of row (i, j). The exact transpose of injection.
template <class T>
void sample(const Wavefield<T> &w, const Points<T> &points, T *values, int64_t i, int64_t j, int64_t k0, int64_t k1);

} // namespace fathometer
