// Acoustic VTI wave equation, constant density, vertical symmetry axis, two stresses u (horizontal) and v (vertical):
//
//   w_tt + 2 eta w_t = M (D w + f),   w = (u, v),   D = diag(d_xx + d_yy, d_zz),
//   M = Vp^2 [[1 + 2 epsilon, s], [s, 1]],   s = sqrt(1 + 2 delta)
//
// (Duveneck et al. 2008, SEG; Zhang, Zhang & Zhang 2011, Geophysics 76(3); epsilon, delta: Thomsen 1986). M is
// symmetric and, where epsilon >= delta, positive semi-definite: the system is self-adjoint and its energy bounded.
// Pressure is (u + v) / 2, and a source of pressure is in equal parts one of u and of v: each is the other's transpose.
//
// Second-order leapfrog in time, centred differences of order 2R in space; damping eta (a sponge) enters centred:
//   (1 + eta dt) w+ = 2 w - (1 - eta dt) w- + dt^2 M (D w + f)
// written as an increment of w (leapfrog.hpp). With model = dt^2 (M11, M12, M22).
#pragma once

#include <array>
#include <cstdint>

#include "core/arithmetic.hpp"
#include "core/simd.hpp"

namespace fathometer::acoustic {

struct Vti {
    enum Field { u, v, fields };
    enum Model { m11, m12, m22, models };
    static constexpr Field differentiated[3] = {u, u, v}; // along x, y, z

    // dt^2 M D w, from h = u_xx + u_yy and l = v_zz.
    template <class V> [[gnu::always_inline]] static std::array<V, fields> force(const V (&model)[models], V h, V l) {
        return {madd(model[m11], h, model[m12] * l), madd(model[m12], h, model[m22] * l)};
    }

    template <class T> static T pressure(const T *const (&field)[fields], std::int64_t k) {
        return T(0.5) * (field[u][k] + field[v][k]);
    }

    // w += dt^2 M f
    template <class T>
    static void inject(const T *const (&model)[models], std::int64_t k, T f, T *const (&field)[fields]) {
        const T half = f * T(0.5);
        field[u][k] += (model[m11][k] + model[m12][k]) * half;
        field[v][k] += (model[m12][k] + model[m22][k]) * half;
    }
};

} // namespace fathometer::acoustic
