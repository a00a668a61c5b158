// Isotropic acoustic wave equation, constant density:
//
//   p_tt + 2 eta p_t = Vp^2 (p_xx + p_yy + p_zz) + Vp^2 f
//
// Second-order leapfrog in time, centred differences of order 2R in space; damping eta (a sponge) enters centred:
//   (1 + eta dt) p+ = 2 p - (1 - eta dt) p- + dt^2 Vp^2 (L p + f)
// written as an increment of p (see vti.cpp). With model = dt^2 Vp^2. Sources f are added afterwards, by points.cpp.
#include "derivative.hpp"
#include "dispatch.hpp"
#include "row.hpp"

namespace fathometer {

namespace {

template <int R, bool Y, Sides S, bool Whole, class T>
void row(const Wavefield<T> &w, int64_t i, int64_t j, int64_t k0, int64_t k1, const Stretch<T> &stretch,
         const Ahead<T> &ahead) {
    const int64_t cell = w.at(i, j);
    const T *__restrict p = w.now(0) + cell, *__restrict m = w.model[0] + w.model_at(i, j);
    T *__restrict next = w.next(0) + cell;
    const T row_damping = S == Sides::damped ? w.damping[0][i] + w.damping[1][j] : 0;
    alignas(64) T derived[piece<T>]; // along x
    for (int64_t begin = k0 - k0 % lanes<T>, end; begin < k1; begin = end) {
        end = split<R> ? std::min(begin + piece<T>, k1) : k1;
        if constexpr (split<R>)
            derive_piece<R>(p, w.stride[0], w.weights[0], begin, end, derived);
        const Weights<R, T> in_x(w.weights[0]), in_y(w.weights[1]), in_z(w.weights[2]);
        Rows<R, T> planes(w.stride[0]), rows(w.stride[1]);
        const T *first_plane = planes.first(p), *first_row = rows.first(p);
        Along<R, T> along_z(p + begin);
        for (int64_t k = begin; k < end; k += lanes<T>) {
            const Lanes<T, Whole> part(k, k0, k1);
            ahead.fetch(k);
            const Vector<T> here = along_z.centre();
            Vector<T> laplacian;
            if constexpr (split<R>) {
                laplacian = load(derived + k - begin);
            } else {
                planes.forget_multiples();
                laplacian = across<R>(first_plane + k, p + k, planes, here, in_x);
            }
            if constexpr (Y) {
                rows.forget_multiples();
                laplacian += across<R>(first_row + k, p + k, rows, here, in_y);
            }
            Vector<T> l = along_z.next(p + k, in_z);
            if constexpr (S == Sides::stretched)
                stretch.add(k, laplacian, l);
            laplacian += l;
            const Vector<T> mass = part.load(m + k), grown = here - load(next + k);
            if constexpr (S == Sides::damped) {
                const Vector<T> eta = row_damping + part.load(w.damping[2] + k);
                part.store(next + k, here + madd(1 - eta, grown, mass * laplacian) / (1 + eta));
            } else {
                part.store(next + k, here + madd(mass, laplacian, grown));
            }
        }
    }
}

} // namespace

template <class T> Row<T> isotropic_row(const Wavefield<T> &w) {
    return with_kind(w, []<int R, bool Y, Sides S>() -> Row<T> {
        return in_vectors<T, row<R, Y, S, true, T>, row<R, Y, S, false, T>>;
    });
}

template Row<float> isotropic_row<float>(const Wavefield<float> &);
template Row<double> isotropic_row<double>(const Wavefield<double> &);

} // namespace fathometer
