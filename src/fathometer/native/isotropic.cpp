// Isotropic acoustic wave equation, constant density:
//
//   p_tt + 2 eta p_t = Vp^2 (p_xx + p_yy + p_zz) + Vp^2 f
//
// Second-order leapfrog in time, centred differences of order 2R in space; damping eta (a sponge) enters centred:
//   (1 + eta dt) p+ = 2 p - (1 - eta dt) p- + dt^2 Vp^2 (L p + f)
// written as an increment of p (see vti.cpp). With model = dt^2 Vp^2. Sources f are added afterwards, by points.cpp.
#include "derivative.hpp"
#include "dispatch.hpp"
#include "stretch.hpp"
#include "sweep.hpp"

namespace fathometer {

namespace {

template <int R, bool Y, class T> void sweep_with(const Wavefield<T> &w, const Box &box) {
    const int64_t k0 = box.lo[2], k1 = box.hi[2];
    for_each_row(w, box, 1, [&](int64_t i, int64_t j, T *scratch) {
        const T *__restrict p = w.now(0) + w.at(i, j);
        T *__restrict next = w.next(0) + w.at(i, j);
        const T *__restrict m = w.model[0] + w.model_at(i, j);
        T *__restrict laplacian = scratch;
#pragma omp simd
        for (int64_t k = k0; k < k1; ++k) {
            T sum = second_derivative<R>(p + k, w.stride[0], w.weights[0]);
            if constexpr (Y)
                sum += second_derivative<R>(p + k, w.stride[1], w.weights[1]);
            laplacian[k] = sum + second_derivative<R>(p + k, 1, w.weights[2]);
        }
        add_layers<R>(w, i, j, k0, k1, laplacian, laplacian);
        if (w.damping[0]) {
            const T row_damping = w.damping[0][i] + w.damping[1][j];
            const T *__restrict damping = w.damping[2];
#pragma omp simd
            for (int64_t k = k0; k < k1; ++k) {
                const T eta = row_damping + damping[k];
                next[k] = p[k] + ((1 - eta) * (p[k] - next[k]) + m[k] * laplacian[k]) / (1 + eta);
            }
        } else {
#pragma omp simd
            for (int64_t k = k0; k < k1; ++k)
                next[k] = p[k] + ((p[k] - next[k]) + m[k] * laplacian[k]);
        }
    });
}

} // namespace

template <class T> void sweep_isotropic(const Wavefield<T> &w, const Box &box) {
    with_radius(w.radius, [&]<int R>() { w.has_y ? sweep_with<R, true>(w, box) : sweep_with<R, false>(w, box); });
}

template void sweep_isotropic<float>(const Wavefield<float> &, const Box &);
template void sweep_isotropic<double>(const Wavefield<double> &, const Box &);

} // namespace fathometer
