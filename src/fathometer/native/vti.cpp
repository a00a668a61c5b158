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
#include "row.hpp"

namespace fathometer {

namespace {

template <int R, bool Y, Sides S, bool Whole, class T>
void row(const Wavefield<T> &w, int64_t i, int64_t j, int64_t k0, int64_t k1, const Stretch<T> &stretch,
         const Ahead<T> &ahead) {
    const int64_t cell = w.at(i, j), model = w.model_at(i, j);
    const T *__restrict u = w.now(0) + cell, *__restrict v = w.now(1) + cell;
    T *__restrict next_u = w.next(0) + cell, *__restrict next_v = w.next(1) + cell;
    const T *__restrict m11 = w.model[0] + model, *__restrict m12 = w.model[1] + model,
                        *__restrict m22 = w.model[2] + model;
    const T row_damping = S == Sides::damped ? w.damping[0][i] + w.damping[1][j] : 0;
    alignas(64) T derived[piece<T>]; // along x
    for (int64_t begin = k0 - k0 % lanes<T>, end; begin < k1; begin = end) {
        end = split<R> ? std::min(begin + piece<T>, k1) : k1;
        if constexpr (split<R>)
            derive_piece<R>(u, w.stride[0], w.weights[0], begin, end, derived);
        const Weights<R, T> in_x(w.weights[0]), in_y(w.weights[1]), in_z(w.weights[2]);
        Rows<R, T> planes(w.stride[0]), rows(w.stride[1]);
        const T *first_plane = planes.first(u), *first_row = rows.first(u);
        Along<R, T> along_z(v + begin);
        for (int64_t k = begin; k < end; k += lanes<T>) {
            const Lanes<T, Whole> part(k, k0, k1);
            ahead.fetch(k);
            const Vector<T> here_u = load(u + k), here_v = along_z.centre();
            Vector<T> h;
            if constexpr (split<R>) {
                h = load(derived + k - begin);
            } else {
                planes.forget_multiples();
                h = across<R>(first_plane + k, u + k, planes, here_u, in_x);
            }
            if constexpr (Y) {
                rows.forget_multiples();
                h += across<R>(first_row + k, u + k, rows, here_u, in_y);
            }
            Vector<T> l = along_z.next(v + k, in_z);
            if constexpr (S == Sides::stretched)
                stretch.add(k, h, l);
            const Vector<T> coupling = part.load(m12 + k);
            const Vector<T> force_u = madd(part.load(m11 + k), h, coupling * l),
                            force_v = madd(coupling, h, part.load(m22 + k) * l);
            const Vector<T> grown_u = here_u - load(next_u + k), grown_v = here_v - load(next_v + k);
            if constexpr (S == Sides::damped) {
                const Vector<T> eta = row_damping + part.load(w.damping[2] + k);
                part.store(next_u + k, here_u + madd(1 - eta, grown_u, force_u) / (1 + eta));
                part.store(next_v + k, here_v + madd(1 - eta, grown_v, force_v) / (1 + eta));
            } else {
                part.store(next_u + k, here_u + (grown_u + force_u));
                part.store(next_v + k, here_v + (grown_v + force_v));
            }
        }
    }
}

} // namespace

template <class T> Row<T> vti_row(const Wavefield<T> &w) {
    return with_kind(w, []<int R, bool Y, Sides S>() -> Row<T> {
        return in_vectors<T, row<R, Y, S, true, T>, row<R, Y, S, false, T>>;
    });
}

template Row<float> vti_row<float>(const Wavefield<float> &);
template Row<double> vti_row<double>(const Wavefield<double> &);

} // namespace fathometer
