// The loop over a row's cells that is common to wave equations with second derivatives in space: it makes the
// derivatives, the equation makes the step of them.
#pragma once

#include <algorithm>

#include "derivative.hpp"
#include "lanes.hpp"
#include "prefetch.hpp"
#include "wavefield.hpp"

namespace fathometer {

// Calls kernel.template operator()<Whole>(k0, k1): for a row's cells by whole vectors, and for those at its ends by
// parts of one, because stores of some lanes are slow.
template <class T, class Kernel>
[[gnu::always_inline]] inline void in_vectors(int64_t k0, int64_t k1, const Kernel &kernel) {
    const int64_t first = (k0 + lanes<T> - 1) / lanes<T> * lanes<T>, last = k1 / lanes<T> * lanes<T>;
    if (k0 < first)
        kernel.template operator()<false>(k0, std::min(first, k1));
    if (first < last)
        kernel.template operator()<true>(first, last);
    if (last < k1 && first <= last)
        kernel.template operator()<false>(last, k1);
}

// Calls update(k, part, f, g, h, l) for the vectors of the cells k0..k1 of a row, where
//
//   h = f_xx + f_yy,   l = g_zz   (no f_yy in two dimensions: Y false)
//
// f, g: the row of the field that is differentiated across rows, and of that along it; `OneField`: they are the same.
// part: the vector's lanes that lie in k0..k1; f and g, as arguments, are the fields at k.
template <int R, bool Y, bool Whole, bool OneField, class T, class Update>
[[gnu::always_inline]] inline void differentiate_row(const Wavefield<T> &w, const T *__restrict f,
                                                     const T *__restrict g, int64_t k0, int64_t k1,
                                                     const Prefetch<T> &prefetch, const Update &update) {
    alignas(64) T derived[piece<T>]; // along x
    for (int64_t begin = k0 - k0 % lanes<T>, end; begin < k1; begin = end) {
        end = split<R> ? std::min(begin + piece<T>, k1) : k1;
        if constexpr (split<R>)
            derive_piece<R>(f, w.stride[0], w.weights[0], begin, end, derived);
        const Weights<R, T> in_x(w.weights[0]), in_y(w.weights[1]), in_z(w.weights[2]);
        Rows<R, T> planes(w.stride[0]), rows(w.stride[1]);
        const T *first_plane = planes.first(f), *first_row = rows.first(f);
        Along<R, T> along_z(g + begin);
        for (int64_t k = begin; k < end; k += lanes<T>) {
            const Lanes<T, Whole> part(k, k0, k1);
            prefetch.fetch(k);
            const Vector<T> g_here = along_z.centre(), f_here = OneField ? g_here : load(f + k);
            Vector<T> h;
            if constexpr (split<R>) {
                h = load(derived + k - begin);
            } else {
                planes.forget_multiples();
                h = across<R>(first_plane + k, f + k, planes, f_here, in_x);
            }
            if constexpr (Y) {
                rows.forget_multiples();
                h += across<R>(first_row + k, f + k, rows, f_here, in_y);
            }
            const Vector<T> l = along_z.next(g + k, in_z);
            update(k, part, f_here, g_here, h, l);
        }
    }
}

} // namespace fathometer
