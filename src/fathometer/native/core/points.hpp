// Sources and receivers off the grid: each spreads over a small box of cells with separable weights.
//
// Spreading and collecting are each other's transpose: the same weights. The order of every sum is fixed by the order
// of the points and of the cells, never by threads, tiles or ranks.
#pragma once

#include <algorithm>

#include "wavefield.hpp"

namespace fathometer {

constexpr int max_weights = 8;                      // per axis
constexpr int64_t farthest_cell = int64_t(1) << 40; // from a rank's first cell, of any point

// Points of one rank. Cell indices count from the rank's first owned cell and may lie in the halo (sampling) or
// outside the owned cells (injection: another rank adds those). Weights are kept per axis: [point][axis][max_weights].
//
// Rows of cells know the points that concern them, so that whoever computes a row injects and samples there: a point
// stands in every row of owned cells that its box touches. A receiver gets the sum along z of each of these rows, its
// lines. Whoever records it adds them up when it has all, with those of other ranks (seismic/waves/recording.py): no
// row waits for others.
template <class T> struct Points {
    std::vector<int64_t> first;  // [point][axis] first cell of the box
    std::vector<int32_t> count;  // [point][axis] cells of the box, 1 where the point lies on the grid
    std::vector<T> weight;       // [point][axis][max_weights]
    std::vector<int64_t> column; // which series of the survey belongs to the point; -1: another rank records it
    std::vector<int32_t> field;  // which field it touches, where the physics has several that points can touch
    std::vector<char> added;     // receivers: its value is added to that of an earlier point of the column, not stored
    int64_t rows_y = 0;          // rows in a plane of owned cells
    std::vector<int64_t> start;  // [row, plus one] where a row's points begin in `point`
    std::vector<int32_t> point;  // rows' points, in the points' order
    std::vector<int64_t> line;   // [point, plus one] receivers: the first of its lines, [x][y] of its box
    std::vector<int32_t> anchor; // [point] receivers: z index of the cell with which its lines are taken
    int64_t reach = 0;           // receivers: cells along z between an anchor and the ends of its box, at most
    int64_t farthest = 0;        // the same along x and y, from the nearest row of the block

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

// Calls add(k, f) for the cells k0..k1 of row (i, j) that point p touches; f: value times its weight there.
template <class T, class Add>
void spread_point(const Points<T> &points, int64_t p, T value, int64_t i, int64_t j, int64_t k0, int64_t k1, Add add) {
    const int64_t *first = &points.first[3 * p];
    const int32_t *count = &points.count[3 * p];
    const T *wx = &points.weight[3 * max_weights * p], *wy = wx + max_weights, *wz = wy + max_weights;
    const T weight_xy = wx[i - first[0]] * wy[j - first[1]];
    const int64_t end = std::min(first[2] + count[2], k1);
    for (int64_t k = std::max(first[2], k0); k < end; ++k)
        add(k, weight_xy * wz[k - first[2]] * value);
}

// The same for every source, one after the other; f: what it adds of values[column] scale.
template <class T, class Add>
void spread(const Points<T> &points, const T *values, T scale, int64_t i, int64_t j, int64_t k0, int64_t k1, Add add) {
    points.in_row(i, j,
                  [&](int64_t p) { spread_point<T>(points, p, values[points.column[p]] * scale, i, j, k0, k1, add); });
}

// lines[that of row (i, j)] of point p: the sum of its weights along z times value(k).
template <class T, class Value>
void take_line(const Points<T> &points, int64_t p, T *lines, int64_t i, int64_t j, Value value) {
    const int64_t *first = &points.first[3 * p];
    const int32_t *count = &points.count[3 * p];
    const T *wz = &points.weight[(3 * p + 2) * max_weights];
    T line = 0;
    for (int c = 0; c < count[2]; ++c)
        line += wz[c] * value(first[2] + c);
    lines[points.line[p] + (i - first[0]) * count[1] + j - first[1]] = line;
}

// The same of each receiver whose anchor is one of the cells k0..k1.
template <class T, class Value>
void take_lines(const Points<T> &points, T *lines, int64_t i, int64_t j, int64_t k0, int64_t k1, Value value) {
    points.in_row(i, j, [&](int64_t p) {
        if (points.anchor[p] >= k0 && points.anchor[p] < k1)
            take_line(points, p, lines, i, j, value);
    });
}

// values[column] = the sum of weights times the lines of each receiver that is recorded here.
template <class T> void add_up_lines(const Points<T> &points, const T *lines, T *values) {
    for (int64_t p = 0; p < points.size(); ++p) {
        if (points.column[p] < 0)
            continue;
        const int32_t *count = &points.count[3 * p];
        const T *wx = &points.weight[3 * max_weights * p], *wy = wx + max_weights, *line = lines + points.line[p];
        T sum = 0;
        for (int a = 0; a < count[0]; ++a) {
            T plane = 0;
            for (int b = 0; b < count[1]; ++b)
                plane += wy[b] * *line++;
            sum += wx[a] * plane;
        }
        T &value = values[points.column[p]];
        value = !points.added.empty() && points.added[p] ? value + sum : sum;
    }
}

} // namespace fathometer
