// Centred differences, written so that an odd field gives exactly zero at its point of symmetry.
#pragma once

#include <cstdint>
#include <utility>

#include "arithmetic.hpp"
#include "simd.hpp"

namespace fathometer {

// The weights of a derivative in all lanes.
template <int R, class T> struct Weights {
    Vector<T> w[R + 1];
    explicit Weights(const T *weight) {
        for (int r = 0; r <= R; ++r)
            w[r] = all_lanes(weight[r]);
    }
};

// Addresses of rows up to R strides away, from few registers: those at 1, 2, 4, 8 and 3, 6 times the stride share one
// index register each. Left to itself the compiler keeps an index for each row, and more of them than there are.
template <int R, class T> class Rows {
    static_assert(R <= 8);
    std::int64_t one, three, five, seven; // bytes

  public:
    explicit Rows(std::int64_t stride)
        : one(stride * std::int64_t(sizeof(T))), three(3 * one), five(5 * one), seven(7 * one) {}

    // Once an iteration, so that no multiple of an index is kept for the next one.
    [[gnu::always_inline]] inline void forget_multiples() {
        asm("" : "+r"(one));
        if constexpr (R >= 3)
            asm("" : "+r"(three));
        if constexpr (R >= 5)
            asm("" : "+r"(five));
        if constexpr (R >= 7)
            asm("" : "+r"(seven));
    }

    // The rows r strides before and behind f: `first` is the one R strides before it.
    template <int r> [[gnu::always_inline]] inline Vector<T> pair(const T *first, const T *f) const {
        return load(at<r>(f)) + load(at<R - r>(first));
    }

    const T *first(const T *f) const { return f - R * (one / std::int64_t(sizeof(T))); }

    // The row n strides behind a row.
    template <int n> [[gnu::always_inline]] inline const T *at(const T *base) const {
        const char *bytes = reinterpret_cast<const char *>(base);
        if constexpr (n == 0)
            return base;
        else if constexpr (n == 3 || n == 6)
            return reinterpret_cast<const T *>(bytes + three * (n / 3));
        else if constexpr (n == 5)
            return reinterpret_cast<const T *>(bytes + five);
        else if constexpr (n == 7)
            return reinterpret_cast<const T *>(bytes + seven);
        else
            return reinterpret_cast<const T *>(bytes + one * n);
    }
};

// Second derivatives of a vector of cells across rows: weight[0] f + sum_r weight[r] (f[+r] + f[-r]). `first` is the
// row R strides before f, `centre` the vector at f.
template <int R, class T>
[[gnu::always_inline]] inline Vector<T> across(const T *first, const T *f, const Rows<R, T> &rows, Vector<T> centre,
                                               const Weights<R, T> &weights) {
    Vector<T> sum = weights.w[0] * centre;
    [&]<int... r>(std::integer_sequence<int, r...>) {
        ((sum = madd(weights.w[r + 1], rows.template pair<r + 1>(first, f), sum)), ...);
    }(std::make_integer_sequence<int, R>());
    return sum;
}

// The same from neighbours in a row.
template <int R, class T> [[gnu::always_inline]] inline Vector<T> beside(const T *f, const Weights<R, T> &weights) {
    Vector<T> sum = weights.w[0] * load(f);
#pragma GCC unroll 8
    for (int r = 1; r <= R; ++r)
        sum = madd(weights.w[r], load(f + r) + load(f - r), sum);
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
