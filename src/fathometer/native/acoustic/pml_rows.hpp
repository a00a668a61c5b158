// Absorbing layers in the loop over a row's cells. Layers across x and y are computed where the stencil has the rows
// around in registers, layers along z at the row's ends, before it.
#pragma once

#include <algorithm>
#include <vector>

#include "pml_kernels.hpp"

namespace fathometer::acoustic {

// A layer of x or y in one of the rows that it covers.
template <class T> struct Crossing {
    T *psi;         // of the lowest half point that the row needs, S before the row
    T *zeta;        // of the row
    int64_t stride; // from half point to half point
    bool advances;  // the row advances the highest half point that it needs
    T psi_gain, psi_decay, zeta_gain, zeta_decay;
};

// The layers of one row.
template <class T> struct RowLayers {
    Crossing<T> across[2][2]; // of x and of y: where the grid is small, two may overlap
    Crossing<T> *end[2];      // behind the last one
    const T *along[2]; // what those of z add to the derivative along the row: in cells below `low`, from `high` on
    int64_t low, high;

    bool crossed(int axis) const { return end[axis] != across[axis]; }

    [[gnu::always_inline]] inline void add_along(int64_t k, Vector<T> &to) const {
        if (k < low)
            to += load(along[0] + k);
        if (k + lanes<T> > high)
            to += load(along[1] + k);
    }
};

// The layers of x and y in a row's loop (core/row.hpp).
template <int R, bool X, bool Y, class T> class Across {
    static constexpr int S = (R + 1) / 2;

  public:
    static constexpr bool in_x = X, in_y = Y;

    Across(const Pml<T> &pml, const RowLayers<T> &layers)
        : layers(layers), staggered{Staggered<S, T>(pml.staggered[0]), Staggered<S, T>(pml.staggered[1])} {}

    // psi = decay psi + gain d w at the highest half point; slope = -d^T psi, zeta = decay zeta + gain (L w + slope);
    // the sum gets slope + zeta. The numbers of a layer are read anew for every vector: for registers there are too
    // many.
    template <int axis, class Part>
    [[gnu::always_inline]] inline void add(int64_t k, const Part &part, const T *f, const Rows<R, T> &rows,
                                           Vector<T> centre, Vector<T> curvature, Vector<T> &sum) const {
        const Crossing<T> *layer = layers.across[axis], *const end = layers.end[axis];
        sum = axis == 0 || !X ? absorb(*layer, k, part, f, rows, centre, curvature, staggered[axis])
                              : sum + absorb(*layer, k, part, f, rows, centre, curvature, staggered[axis]);
        while (++layer < end)
            sum += absorb(*layer, k, part, f, rows, centre, curvature, staggered[axis]);
    }

  private:
    const RowLayers<T> &layers;
    const Staggered<S, T> staggered[2];

    template <class Part>
    [[gnu::always_inline]] static inline Vector<T> absorb(const Crossing<T> &layer, int64_t k, const Part &part,
                                                          const T *f, const Rows<R, T> &rows, Vector<T> centre,
                                                          Vector<T> curvature, const Staggered<S, T> &weights) {
        const Rows<2 * S - 1, T> halves(layer.stride);
        const T *lowest = layer.psi + k;
        T *own = const_cast<T *>(halves.template at<2 * S - 1>(lowest));
        Vector<T> highest = part.load(own);
        if (layer.advances) {
            highest =
                madd(all_lanes(layer.psi_decay), highest, layer.psi_gain * first_derivative<S>(weights, [&]<int n>() {
                                                              return n == 0 ? centre : load(rows.template at<n>(f));
                                                          }));
            part.store(own, highest);
        }
        const Vector<T> slope = first_derivative<S>(
            weights, [&]<int n>() { return n == 2 * S - 1 ? highest : load(halves.template at<n>(lowest)); });
        const Vector<T> memory =
            madd(all_lanes(layer.zeta_decay), part.load(layer.zeta + k), layer.zeta_gain * (curvature + slope));
        part.store(layer.zeta + k, memory);
        return slope + memory;
    }
};

template <int R, class T> class Across<R, false, false, T> {
  public:
    static constexpr bool in_x = false, in_y = false;

    Across(const Pml<T> &, const RowLayers<T> &) {}
};

// A layer of z in whole rows, by vectors that begin with its cells: psi and zeta, which lie alike, with room for whole
// vectors, and filters that are zero where the layer has no cells or half points.
template <class T> struct End {
    T *psi, *zeta;
    int64_t stride[2], first, cells; // the layer's first cell, its cells as whole vectors
    T *sum;                          // of the row in hand
    std::vector<T> psi_gain, psi_decay, zeta_gain, zeta_decay;

    End(const Layer<T> &layer, T *row_sum)
        : psi(layer.psi), zeta(layer.zeta), stride{layer.psi_stride[0], layer.psi_stride[1]}, first(layer.cell_lo),
          cells((layer.cell_hi - layer.cell_lo + lanes<T> - 1) / lanes<T> * lanes<T>), sum(row_sum + first),
          psi_gain(filled(layer.psi_gain, layer.half_lo, layer.half_hi)),
          psi_decay(filled(layer.psi_decay, layer.half_lo, layer.half_hi)),
          zeta_gain(filled(layer.zeta_gain, layer.cell_lo, layer.cell_hi)),
          zeta_decay(filled(layer.zeta_decay, layer.cell_lo, layer.cell_hi)) {}

  private:
    std::vector<T> filled(const T *filter, int64_t lo, int64_t hi) const {
        std::vector<T> all(cells);
        std::copy(filter, filter + hi - lo, all.begin() + lo - first);
        return all;
    }
};

// The layers of the rows that one thread computes.
template <int R, class T> class PmlRows {
    static constexpr int S = (R + 1) / 2;

  public:
    PmlRows(const Wavefield<T> &w, const Pml<T> &pml);

    // Those of the cells k0..k1 of row (i, j), once a step: what is along z is advanced by that.
    const RowLayers<T> &row(const Wavefield<T> &w, const Box &halves, int64_t i, int64_t j, int64_t k0, int64_t k1) {
        const int64_t at[2] = {i, j};
        for (int axis = 0; axis < 2; ++axis) {
            layers.end[axis] = layers.across[axis];
            if (at[axis] < clear_lo[axis] || at[axis] >= clear_hi[axis])
                cross(axis, halves, i, j);
        }
        if (!ends.empty())
            absorb_ends(w, i, j);
        for (const Layer<T> *layer : along)
            absorb_piece(w, *layer, i, j, std::max(k0, layer->cell_lo), std::min(k1, layer->cell_hi));
        return layers;
    }

  private:
    const Pml<T> &pml;
    std::vector<const Layer<T> *> across[2];
    int64_t clear_lo[2], clear_hi[2];    // rows in no layer of x, of y
    std::vector<End<T>> ends;            // of whole rows
    std::vector<const Layer<T> *> along; // of rows that are cut
    std::vector<T> sums[2], room;
    RowLayers<T> layers{};

    void cross(int axis, const Box &halves, int64_t i, int64_t j);
    void absorb_ends(const Wavefield<T> &w, int64_t i, int64_t j);
    void absorb_piece(const Wavefield<T> &w, const Layer<T> &layer, int64_t i, int64_t j, int64_t k0, int64_t k1);
};

} // namespace fathometer::acoustic
