// Sources and receivers off the grid: each spreads over a small box of cells with separable weights.
#pragma once

#include "wavefield.hpp"

namespace fathometer {

constexpr int max_weights = 8; // per axis

// Points of one rank. Cell indices count from the rank's first owned cell and may lie in the halo (sampling) or
// outside the owned cells (injection: another rank adds those). Weights are kept per axis: [point][axis][max_weights].
template <class T> struct Points {
    std::vector<int64_t> first;  // [point][axis] first cell of the box
    std::vector<int32_t> count;  // [point][axis] cells of the box, 1 where the point lies on the grid
    std::vector<T> weight;       // [point][axis][max_weights]
    std::vector<int64_t> column; // which series of the survey belongs to the point
    int64_t size() const { return int64_t(column.size()); }
};

// By a team: add the sources' values to the field "next": w += dt^2 M f / (1 + eta dt), f in equal parts to u and v,
// divided by the cell volume (`scale` = 1 / volume). `values[column]` is f at the time of "now".
template <class T> void inject(const Wavefield<T> &w, const Points<T> &points, const T *values, T scale);

// By a team: values[column] = pressure of the field "now" at each point: p, or (u + v) / 2. The exact transpose of
// injection.
template <class T> void sample(const Wavefield<T> &w, const Points<T> &points, T *values);

} // namespace fathometer
