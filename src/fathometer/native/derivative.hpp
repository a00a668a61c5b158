// Centred differences, written so that an odd field gives exactly zero at its point of symmetry.
#pragma once

#include <cstdint>

#include "arithmetic.hpp"
#include "simd.hpp"

namespace fathometer {

// Second derivative of order 2R: weight[0] f + sum_r weight[r] (f[+r] + f[-r]).
template <int R, class T>
[[gnu::always_inline]] inline T second_derivative(const T *__restrict f, std::int64_t stride, const T *weight) {
    T sum = weight[0] * f[0];
    for (int r = 1; r <= R; ++r)
        sum = madd(weight[r], f[r * stride] + f[-r * stride], sum);
    return sum;
}

// First derivative half a cell further on, of order 2S, from S pairs of cells.
template <int S, class T>
[[gnu::always_inline]] inline T half_point(const T *__restrict f, std::int64_t stride, const T *weight) {
    T sum = weight[0] * (f[stride] - f[0]);
    for (int m = 1; m < S; ++m)
        sum = madd(weight[m], f[(m + 1) * stride] - f[-m * stride], sum);
    return sum;
}

// The weights of a derivative in all lanes.
template <int R, class T> struct Weights {
    Vector<T> w[R + 1];
    explicit Weights(const T *weight) {
        for (int r = 0; r <= R; ++r)
            w[r] = all_lanes(weight[r]);
    }
};

// Second derivatives of a vector of cells, from rows `stride` apart; `centre` is the vector at f.
template <int R, class T>
[[gnu::always_inline]] inline Vector<T> across(const T *f, std::int64_t stride, Vector<T> centre,
                                               const Weights<R, T> &weights) {
    Vector<T> sum = weights.w[0] * centre;
#pragma GCC unroll 8
    for (int r = 1; r <= R; ++r)
        sum = madd(weights.w[r], load(f + r * stride) + load(f - r * stride), sum);
    return sum;
}

// Second derivatives along a row, vector after vector. The neighbours come out of registers, since loads between cache
// lines cost twice; where the stencil reaches further than a vector, they are loaded all the same.
template <int R, class T> class Along {
    static constexpr bool in_registers = lanes<T> >= R;

  public:
    // At the vector that begins at f.
    explicit Along(const T *f) : before(load(f - lanes<T>)), here(load(f)) {}

    Vector<T> centre() const { return here; }

    // The derivatives at the vector f, which is where this stands; steps on to the next vector.
    [[gnu::always_inline]] inline Vector<T> next(const T *f, const Weights<R, T> &weights) {
        Vector<T> sum = weights.w[0] * here;
        const Vector<T> behind = load(f + lanes<T>);
        if constexpr (in_registers)
            add_pairs<1>(sum, behind, weights);
        else
            for (int r = 1; r <= R; ++r)
                sum = madd(weights.w[r], load(f + r) + load(f - r), sum);
        before = here;
        here = behind;
        return sum;
    }

  private:
    Vector<T> before, here;

    template <int r>
    [[gnu::always_inline]] inline void add_pairs(Vector<T> &sum, Vector<T> behind, const Weights<R, T> &weights) {
        sum = madd(weights.w[r], neighbours<r>(here, behind) + neighbours<lanes<T> - r>(before, here), sum);
        if constexpr (r < R)
            add_pairs<r + 1>(sum, behind, weights);
    }
};

} // namespace fathometer
