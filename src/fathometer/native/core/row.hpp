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

// The derivatives along x for a piece of a row, in a loop of their own: stencils that reach far need more registers for
// both axes together than there are.
template <class T> constexpr int piece = 32 * lanes<T>;
template <int R> constexpr bool split = R > 4;

// What the sides add goes to `added`. The row's cells are k0..k1.
template <int R, bool Whole, class T, class Sides>
[[gnu::noinline]] void derive_piece(const T *f, std::int64_t stride, const T *weight, std::int64_t begin,
                                    std::int64_t end, std::int64_t k0, std::int64_t k1, T *to, T *added,
                                    const Sides &sides) {
    const Weights<R, T> weights(weight);
    Rows<R, T> rows(stride);
    const T *first = rows.first(f);
    for (std::int64_t k = begin; k < end; k += lanes<T>) {
        rows.forget_multiples();
        const Vector<T> here = load(f + k), derived = across<R>(first + k, f + k, rows, here, weights);
        store(to + k - begin, derived);
        if constexpr (Sides::in_x) {
            Vector<T> sum;
            sides.template add<0>(k, Lanes<T, Whole>(k, k0, k1), f + k, rows, here, derived, sum);
            store(added + k - begin, sum);
        }
    }
}

// Calls update(k, part, f, g, h, l) for the vectors of the cells k0..k1 of a row, where
//
//   h = f_xx + f_yy,   l = g_zz   (no f_yy in two dimensions: Y false)
//
// f, g: the row of the field that is differentiated across rows, and of that along it; `OneField`: they are the same.
// part: the vector's lanes that lie in k0..k1; f and g, as arguments, are the fields at k.
//
// What the sides of the grid add to the derivatives across rows is made in the same loop, from the rows that it has
// loaded: where Sides::in_x, sides.add<0>(k, part, f, rows, centre, derivative, sum) begins a sum that h gets; where
// Sides::in_y, sides.add<1>(…) adds to it or begins it. f: the row at k, centre: the vector there.
template <int R, bool Y, bool Whole, bool OneField, class T, class Sides, class Update>
[[gnu::always_inline]] inline void
differentiate_row(const Wavefield<T> &w, const T *__restrict f, const T *__restrict g, int64_t k0, int64_t k1,
                  const Prefetch<T> &prefetch, const Sides &sides, const Update &update) {
    alignas(64) T derived[piece<T>], added[Sides::in_x ? piece<T> : 1]; // along x
    for (int64_t begin = k0 - k0 % lanes<T>, end; begin < k1; begin = end) {
        end = split<R> ? std::min(begin + piece<T>, k1) : k1;
        if constexpr (split<R>)
            derive_piece<R, Whole || !Sides::in_x>(f, w.stride[0], w.weights[0], begin, end, k0, k1, derived, added,
                                                   sides);
        const Weights<R, T> in_x(w.weights[0]), in_y(w.weights[1]), in_z(w.weights[2]);
        Rows<R, T> planes(w.stride[0]), rows(w.stride[1]);
        const T *first_plane = planes.first(f), *first_row = rows.first(f);
        Along<R, T> along_z(g + begin);
        for (int64_t k = begin; k < end; k += lanes<T>) {
            const Lanes<T, Whole> part(k, k0, k1);
            prefetch.fetch(k);
            const Vector<T> g_here = along_z.centre(), f_here = OneField ? g_here : load(f + k);
            Vector<T> h, sum;
            if constexpr (split<R>) {
                h = load(derived + k - begin);
                if constexpr (Sides::in_x)
                    sum = load(added + k - begin);
            } else {
                planes.forget_multiples();
                h = across<R>(first_plane + k, f + k, planes, f_here, in_x);
                if constexpr (Sides::in_x)
                    sides.template add<0>(k, part, f + k, planes, f_here, h, sum);
            }
            if constexpr (Y) {
                rows.forget_multiples();
                const Vector<T> in_row = across<R>(first_row + k, f + k, rows, f_here, in_y);
                h += in_row;
                if constexpr (Sides::in_y)
                    sides.template add<1>(k, part, f + k, rows, f_here, in_row, sum);
            }
            if constexpr (Sides::in_x || Sides::in_y)
                h += sum;
            const Vector<T> l = along_z.next(g + k, in_z);
            update(k, part, f_here, g_here, h, l);
        }
    }
}

} // namespace fathometer
