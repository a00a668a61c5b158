// A step in time of w_tt + 2 eta w_t = M D w, second-order leapfrog with damping eta centred, as an increment:
//
//   w+ = w + [(1 - eta dt) (w - w-) + dt^2 M D w] / (1 + eta dt)
//
// A field that stands still then stays as it is to the last bit, where 2 w - w- would let rounding feed the modes
// without a frequency.
#pragma once

#include "core/arithmetic.hpp"
#include "core/simd.hpp"

namespace fathometer::acoustic {

// dt^2 M D w as a product of two, which is rounded once with what it is added to.
template <class V> struct Product {
    V factor, value;
};

// w+ - w from w - w- and dt^2 M D w, where eta = 0.
struct Undamped {
    template <class V> [[gnu::always_inline]] inline V operator()(V grown, V force) const { return grown + force; }
    template <class V> [[gnu::always_inline]] inline V operator()(V grown, Product<V> force) const {
        return madd(force.factor, force.value, grown);
    }
};

// The same with damping.
template <class V> struct Damped {
    V eta_dt;

    [[gnu::always_inline]] inline V operator()(V grown, V force) const {
        return madd(1 - eta_dt, grown, force) / (1 + eta_dt);
    }
    [[gnu::always_inline]] inline V operator()(V grown, Product<V> force) const {
        return (*this)(grown, force.factor * force.value);
    }
};

} // namespace fathometer::acoustic
