// One time step of the cells k0..k1 of a row (i, j): what a wave equation's file gives to the sweep.
#pragma once

#include <algorithm>

#include "simd.hpp"
#include "stretch.hpp"
#include "wavefield.hpp"

namespace fathometer {

// Rows that a later part of the sweep will need from memory, fetched while this one computes.
template <class T> struct Ahead {
    const T *row[2] = {nullptr, nullptr};

    [[gnu::always_inline]] inline void fetch(int64_t k) const {
        if (row[0]) {
            prefetch(row[0] + k);
            prefetch(row[1] + k);
        }
    }
};

template <class T>
using Row = void (*)(const Wavefield<T> &, int64_t i, int64_t j, int64_t k0, int64_t k1, const Stretch<T> &,
                     const Ahead<T> &);

// The kernel for a wavefield's order, dimension and damping. Isotropic: one field p. VTI: the stress pair u, v.
template <class T> Row<T> isotropic_row(const Wavefield<T> &w);
template <class T> Row<T> vti_row(const Wavefield<T> &w);

template <class T> Row<T> row_kernel(const Wavefield<T> &w) { return w.fields == 2 ? vti_row(w) : isotropic_row(w); }

// The lanes of the vector at k that lie in k0..k1: all of them where `Whole`. Vectors begin at whole multiples of their
// width, where rows of fields are aligned and padded: a field may always be loaded whole.
template <class T, bool Whole> struct Lanes {
    int64_t first, last;

    Lanes(int64_t k, int64_t k0, int64_t k1)
        : first(Whole ? 0 : std::max<int64_t>(k0 - k, 0)),
          last(Whole ? lanes<T> : std::min<int64_t>(k1 - k, lanes<T>)) {}

    [[gnu::always_inline]] inline Vector<T> load(const T *from) const {
        if constexpr (Whole)
            return fathometer::load(from);
        else
            return load_lanes(from, first, last);
    }
    [[gnu::always_inline]] inline void store(T *to, Vector<T> v) const {
        if constexpr (Whole)
            fathometer::store(to, v);
        else
            store_lanes(to, v, first, last);
    }
};

// A row's cells by whole vectors, and those at its ends by parts of one: stores of some lanes are slow.
template <class T, Row<T> whole, Row<T> part>
void in_vectors(const Wavefield<T> &w, int64_t i, int64_t j, int64_t k0, int64_t k1, const Stretch<T> &stretch,
                const Ahead<T> &ahead) {
    const int64_t first = (k0 + lanes<T> - 1) / lanes<T> * lanes<T>, last = k1 / lanes<T> * lanes<T>;
    if (k0 < first)
        part(w, i, j, k0, std::min(first, k1), stretch, ahead);
    if (first < last)
        whole(w, i, j, first, last, stretch, ahead);
    if (last < k1 && first <= last)
        part(w, i, j, last, k1, stretch, ahead);
}

} // namespace fathometer
