// Isotropic acoustic wave equation, constant density, one pressure p:
//
//   p_tt + 2 eta p_t = Vp^2 (p_xx + p_yy + p_zz + f)
//
// Second-order leapfrog in time, centred differences of order 2R in space; damping eta (a sponge) enters centred:
//   (1 + eta dt) p+ = 2 p - (1 - eta dt) p- + dt^2 Vp^2 (L p + f)
// written as an increment of p (leapfrog.hpp). With model = dt^2 Vp^2.
#pragma once

#include <array>
#include <cstdint>

#include "leapfrog.hpp"

namespace fathometer::acoustic {

struct Isotropic {
    enum Field { p, fields };
    enum Model { m, models };
    static constexpr Field differentiated[3] = {p, p, p}; // along x, y, z

    // dt^2 Vp^2 L p, from h = p_xx + p_yy and l = p_zz.
    template <class V>
    [[gnu::always_inline]] static std::array<Product<V>, fields> force(const V (&model)[models], V h, V l) {
        return {{{model[m], h + l}}};
    }

    template <class T> static T pressure(const T *const (&field)[fields], std::int64_t k) { return field[p][k]; }

    // p += dt^2 Vp^2 f
    template <class T>
    static void inject(const T *const (&model)[models], std::int64_t k, T f, T *const (&field)[fields]) {
        field[p][k] += model[m][k] * f;
    }
};

} // namespace fathometer::acoustic
