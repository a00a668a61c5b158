// Sources and receivers of a wavefield on a card (core/points.hpp).
#pragma once

#include <vector>

#include "memory.hpp"
#include "view.hpp"

namespace fathometer::cuda {

constexpr int max_weights = 8; // an axis

// On the card: points, rows of cells with the points that touch them, and lines of receivers.
template <class T> struct PointsView {
    const int *first, *count;     // [point][axis]
    const Real<T> *weight;        // [point][axis][max_weights]
    const int *column;            // [point]; of receivers -1: another rank records it
    const int *row, *start, *end; // [row][x, y], [row] where its points begin and end in `point`
    const int *point;             // rows' points, in the points' order
    const int *reach;             // [row][lowest, behind the highest cell]
    const int *line;              // [line][point, x, y]
    const int64_t *first_line;    // [point]
    int points, rows, lines;
};

template <class T> class Points {
  public:
    PointsView<T> view{};

    // first, count: [points][3], weight: [points][3][max_weights], of points that touch a block of n owned cells.
    Points(int points, const int64_t *first, const int32_t *count, const T *weight, const int64_t *column,
           const int64_t n[3], bool receivers);

  private:
    std::vector<Memory> memory;

    template <class V> const V *keep(const std::vector<V> &values);
};

// Add values[column] scale to "next".
template <class T>
void inject(const View<T> &w, int fields, const PointsView<T> &points, const Real<T> *values, T scale,
            cudaStream_t stream);

// The lines of all receivers, of "now".
template <class T>
void sample(const View<T> &w, int fields, const PointsView<T> &points, Real<T> *lines, cudaStream_t stream);

// recorded[step][column] from lines[step], each receiver's by itself.
template <class T>
void add_up(const PointsView<T> &points, const Real<T> *lines, Real<T> *recorded, int columns, int steps,
            cudaStream_t stream);

} // namespace fathometer::cuda
