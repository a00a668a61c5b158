// Isotropic acoustic wave equation, constant density:
//
//   p_tt + 2 eta p_t = Vp^2 (p_xx + p_yy + p_zz) + Vp^2 f
//
// Second-order leapfrog in time, centred differences of order 2R in space; damping eta (a sponge) enters centred:
//   (1 + eta dt) p+ = 2 p - (1 - eta dt) p- + dt^2 Vp^2 (L p + f)
// written as an increment of p (see vti.cpp). With model = dt^2 Vp^2. Sources f are added afterwards, by points.cpp.
#include "derivative.hpp"
#include "dispatch.hpp"
#include "sweep.hpp"

namespace fathometer {

namespace {

template <int R, bool Y, bool Damped, class T> void sweep_with(const Wavefield<T> &w, const Box &box) {
    const int64_t k0 = box.lo[2], k1 = box.hi[2], along_x = w.stride[0], along_y = w.stride[1];
    for_each_row<R, 1>(w, box, [&](int64_t i, int64_t j) {
        const T *__restrict p = w.now(0) + w.at(i, j);
        T *__restrict next = w.next(0) + w.at(i, j);
        const T *__restrict m = w.model[0] + w.model_at(i, j);
        const T *__restrict damping = w.damping[2];
        const T row_damping = Damped ? w.damping[0][i] + w.damping[1][j] : 0;
#pragma omp simd
        for (int64_t k = k0; k < k1; ++k) {
            T laplacian = second_derivative<R>(p + k, along_x, w.weights[0]);
            if constexpr (Y)
                laplacian += second_derivative<R>(p + k, along_y, w.weights[1]);
            laplacian += second_derivative<R>(p + k, 1, w.weights[2]);
            const T force = m[k] * laplacian;
            if constexpr (Damped) {
                const T eta = row_damping + damping[k];
                next[k] = p[k] + madd(1 - eta, p[k] - next[k], force) / (1 + eta);
            } else {
                next[k] = p[k] + madd(m[k], laplacian, p[k] - next[k]);
            }
        }
    });
}

} // namespace

template <class T> void sweep_isotropic(const Wavefield<T> &w, const Box &box) {
    with_kind(w, [&]<int R, bool Y, bool Damped>() { sweep_with<R, Y, Damped>(w, box); });
}

template void sweep_isotropic<float>(const Wavefield<float> &, const Box &);
template void sweep_isotropic<double>(const Wavefield<double> &, const Box &);

} // namespace fathometer
