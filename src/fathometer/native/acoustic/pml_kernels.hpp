// What the loops of layers have in common.
#pragma once

#include <utility>

#include "core/derivative.hpp"
#include "core/lanes.hpp"
#include "pml.hpp"

namespace fathometer::acoustic {

// One filter a cell along z; one a row across.
template <bool AlongRow, class Part, class T>
[[gnu::always_inline]] inline Vector<T> filter_at(const Part &part, const T *filter, int64_t k) {
    return AlongRow ? part.load(filter + k) : all_lanes(filter[0]);
}

// The weights of a first derivative in all lanes, S pairs.
template <int S, class T> struct Staggered {
    Vector<T> w[S];
    explicit Staggered(const T *weight) {
        for (int m = 0; m < S; ++m)
            w[m] = all_lanes(weight[m]);
    }
};

// First derivative between the rows or neighbours row<S - 1>() and row<S>() of 2 S.
template <int S, class T, class Row>
[[gnu::always_inline]] inline Vector<T> first_derivative(const Staggered<S, T> &weights, const Row &row) {
    Vector<T> sum = weights.w[0] * (row.template operator()<S>() - row.template operator()<S - 1>());
    [&]<int... m>(std::integer_sequence<int, m...>) {
        ((sum =
              madd(weights.w[m + 1], row.template operator()<S + m + 1>() - row.template operator()<S - 2 - m>(), sum)),
         ...);
    }(std::make_integer_sequence<int, S - 1>());
    return sum;
}

// The same at the half points behind a vector of cells.
template <int S, class T>
[[gnu::always_inline]] inline Vector<T> half_points(const T *f, int64_t stride, const Staggered<S, T> &weights) {
    return first_derivative<S>(weights, [&]<int n>() { return load(f + (n - S + 1) * stride); });
}

// Vectors from k0 on, whole ones and what is left; a layer begins and ends anywhere.
template <class T, class Body> [[gnu::always_inline]] inline void for_each_vector(int64_t k0, int64_t k1, Body body) {
    int64_t k = k0;
    for (; k + lanes<T> <= k1; k += lanes<T>)
        body(k, Lanes<T, true>(k, k0, k1));
    if (k < k1)
        body(k, Lanes<T, false>(k, k0, k1));
}

} // namespace fathometer::acoustic
