// Acoustic VTI wave equation, constant density, vertical symmetry axis, two stresses u (horizontal) and v (vertical):
//
//   w_tt + 2 eta w_t = M (D w + f),   w = (u, v),   D = diag(d_xx + d_yy, d_zz),
//   M = Vp^2 [[1 + 2 epsilon, s], [s, 1]],   s = sqrt(1 + 2 delta)
//
// (Duveneck et al. 2008, SEG; Zhang, Zhang & Zhang 2011, Geophysics 76(3); epsilon, delta: Thomsen 1986). M is
// symmetric and, where epsilon >= delta, positive semi-definite: the system is self-adjoint and its energy bounded.
//
// Second-order leapfrog in time, centred differences of order 2R in space; damping eta (a sponge) enters centred:
//   (1 + eta dt) w+ = 2 w - (1 - eta dt) w- + dt^2 M (D w + f)
// The step is written as an increment, w+ = w + [(1 - eta dt) (w - w-) + dt^2 M D w] / (1 + eta dt): a field that
// stands still then stays as it is to the last bit, where 2 w - w- would let rounding feed the modes without a
// frequency. With model = dt^2 (M11, M12, M22). Sources f are added afterwards, by points.cpp.
#include "derivative.hpp"
#include "dispatch.hpp"
#include "sweep.hpp"

namespace fathometer {

namespace {

template <int R, bool Y, bool Damped, class T> void sweep_with(const Wavefield<T> &w, const Box &box) {
    const int64_t k0 = box.lo[2], k1 = box.hi[2], along_x = w.stride[0], along_y = w.stride[1];
    for_each_row<R, 2>(w, box, [&](int64_t i, int64_t j) {
        const T *__restrict u = w.now(0) + w.at(i, j), *__restrict v = w.now(1) + w.at(i, j);
        T *__restrict next_u = w.next(0) + w.at(i, j), *__restrict next_v = w.next(1) + w.at(i, j);
        const int64_t row = w.model_at(i, j);
        const T *__restrict m11 = w.model[0] + row, *__restrict m12 = w.model[1] + row,
                            *__restrict m22 = w.model[2] + row;
        const T *__restrict damping = w.damping[2];
        const T row_damping = Damped ? w.damping[0][i] + w.damping[1][j] : 0;
#pragma omp simd
        for (int64_t k = k0; k < k1; ++k) {
            T h = second_derivative<R>(u + k, along_x, w.weights[0]);
            if constexpr (Y)
                h += second_derivative<R>(u + k, along_y, w.weights[1]);
            const T l = second_derivative<R>(v + k, 1, w.weights[2]);
            const T force_u = madd(m11[k], h, m12[k] * l), force_v = madd(m12[k], h, m22[k] * l);
            if constexpr (Damped) {
                const T eta = row_damping + damping[k];
                next_u[k] = u[k] + madd(1 - eta, u[k] - next_u[k], force_u) / (1 + eta);
                next_v[k] = v[k] + madd(1 - eta, v[k] - next_v[k], force_v) / (1 + eta);
            } else {
                next_u[k] = u[k] + ((u[k] - next_u[k]) + force_u);
                next_v[k] = v[k] + ((v[k] - next_v[k]) + force_v);
            }
        }
    });
}

} // namespace

template <class T> void sweep_vti(const Wavefield<T> &w, const Box &box) {
    with_kind(w, [&]<int R, bool Y, bool Damped>() { sweep_with<R, Y, Damped>(w, box); });
}

template void sweep_vti<float>(const Wavefield<float> &, const Box &);
template void sweep_vti<double>(const Wavefield<double> &, const Box &);

} // namespace fathometer
