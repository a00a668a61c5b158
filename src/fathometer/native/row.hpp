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

// The lanes of the vector at k that lie in k0..k1. Vectors begin at whole multiples of their width, where rows of
// fields are aligned and padded: a field may always be loaded whole.
template <class T> struct Lanes {
    int64_t first, last;
    bool whole;

    Lanes(int64_t k, int64_t k0, int64_t k1)
        : first(std::max<int64_t>(k0 - k, 0)), last(std::min<int64_t>(k1 - k, lanes<T>)),
          whole(k >= k0 && k + lanes<T> <= k1) {}

    [[gnu::always_inline]] inline Vector<T> load(const T *from) const {
        return whole ? fathometer::load(from) : load_lanes(from, first, last);
    }
    [[gnu::always_inline]] inline void store(T *to, Vector<T> v) const {
        whole ? fathometer::store(to, v) : store_lanes(to, v, first, last);
    }
};

} // namespace fathometer
