// Both stages of a time step in a piece of a row: derivatives, what layers add to them, the increments that they make.
#pragma once

#include <algorithm>

#include "core/lanes.hpp"
#include "elastic.hpp"
#include "fields.hpp"

namespace fathometer::elastic {

// The layers of one axis that a row lies in; null memories: none.
template <class T> struct Crossed {
    T *memory[3] = {};
    int64_t following = 0;                                // from a memory of the row to that of the next one
    const T *gain[2] = {}, *decay[2] = {}, *keep[2] = {}; // at nodes and half points; of z by k, else one value
};

// A piece of a row, with all that its cells need. Layers: some memory is not null. Surface: its first cells, of which
// k = 0 lies in the free surface.
template <bool Y, bool Layers, bool Relaxing, bool Surface, bool Whole, class T> class Piece {
    using F = Fields<Y>;
    using V = Vector<T>;

  public:
    Piece(const Wavefield<T> &w, const Elastic<T> &physics, const Crossed<T> (&crossed)[3], int64_t i, int64_t j,
          int64_t k0, int64_t k1)
        : w(w), physics(physics), crossed(crossed), i(i), j(j), k0(k0), k1(k1) {}

    void velocities() const {
        add<F::vx, F::bx, 0>([&](int64_t k, const Part &part) [[gnu::always_inline]] {
            fetch<0>(F::sxx, k);
            fetch<2>(F::vx, k);
            fetch_model(model(F::bx), k);
            V d = along<0, 0, true>(F::sxx, k, part);
            if constexpr (Y)
                d += along<1, 0, false>(F::sxy, k, part);
            return d + along<2, 0, false>(F::sxz, k, part);
        });
        if constexpr (Y)
            add<F::vy, F::by, 1>([&](int64_t k, const Part &part) [[gnu::always_inline]] {
                fetch<0>(F::sxy, k);
                fetch<1>(F::syy, k);
                fetch<2>(F::vy, k);
                fetch_model(model(F::by), k);
                return along<0, 1, false>(F::sxy, k, part) + along<1, 1, true>(F::syy, k, part) +
                       along<2, 1, false>(F::syz, k, part);
            });
        add<F::vz, F::bz, 2>([&](int64_t k, const Part &part) [[gnu::always_inline]] {
            fetch<0>(F::sxz, k);
            fetch<1>(F::szz, k);
            fetch<2>(F::vz, k);
            fetch_model(model(F::bz), k);
            V d = along<0, 2, false>(F::sxz, k, part);
            if constexpr (Y)
                fetch<1>(F::syz, k);
            if constexpr (Y)
                d += along<1, 2, false>(F::syz, k, part);
            return d + along<2, 2, true>(F::szz, k, part);
        });
    }

    void stresses() const {
        normal();
        shear<F::sxz, F::mxz, 0, 2>();
        if constexpr (Y) {
            shear<F::sxy, F::mxy, 0, 1>();
            shear<F::syz, F::myz, 1, 2>();
        }
    }

  private:
    using Part = Lanes<T, Whole>;
    const Wavefield<T> &w;
    const Elastic<T> &physics;
    const Crossed<T> (&crossed)[3];
    const int64_t i, j, k0, k1;

    T *row(int field) const { return w.next(field) + w.at(i, j); }
    const T *model(int array) const { return w.model[array] + w.model_at(i, j); }

    // Rows are too short for the processor to notice where the next one begins: what it will read first is fetched with
    // this one, of a field the row that its derivatives reach last.
    template <int Axis> [[gnu::always_inline]] void fetch(int field, int64_t k) const {
        prefetch(row(field) + k + w.stride[Y ? 1 : 0] +
                 (Axis == 0   ? 2 * w.stride[0]
                  : Axis == 1 ? 2 * w.stride[1]
                              : 0));
    }
    [[gnu::always_inline]] void fetch_model(const T *array, int64_t k) const {
        prefetch(array + k + w.model_stride[Y ? 1 : 0]);
    }

    template <class Body> [[gnu::always_inline]] void each(const Body &body) const {
        for (int64_t k = k0 - k0 % lanes<T>; k < k1; k += lanes<T>)
            body(k, Part(k, k0, k1));
    }

    // Derivative of a field along an axis; `Half`: at the half points behind nodes, from a field at nodes, else the
    // other way round. Component: of the force or the velocity, whose memory it has in a layer.
    template <int Axis, int Component, bool Half>
    [[gnu::always_inline]] V along(int field, int64_t k, const Part &part) const {
        const int64_t s = Axis == 2 ? 1 : w.stride[Axis];
        const T *f = row(field) + k - (Half ? 0 : s);
        V d = madd(all_lanes(physics.weights[Axis][1]), load(f + 2 * s) - load(f - s),
                   all_lanes(physics.weights[Axis][0]) * (load(f + s) - load(f)));
        if constexpr (Surface && Axis == 2)
            close<Half>(row(field), k, d);
        return damped<Axis, Component, Half>(d, k, part);
    }

    template <int Axis, int Component, bool Half>
    [[gnu::always_inline]] V damped(V d, int64_t k, const Part &part) const {
        if constexpr (Layers) {
            const Crossed<T> &c = crossed[Axis];
            if (T *memory = c.memory[Component]) {
                const T *gain = c.gain[Half], *decay = c.decay[Half];
                const V g = Axis == 2 ? part.load(gain + k) : all_lanes(*gain),
                        b = Axis == 2 ? part.load(decay + k) : all_lanes(*decay),
                        m = madd(b, part.load(memory + k), g * d);
                part.store(memory + k, m);
                prefetch(memory + k + c.following);
                d += m;
            }
        }
        return d;
    }

    // The rows next to the free surface have derivatives of their own.
    template <bool Half> [[gnu::always_inline]] void close(const T *f, int64_t k, V &d) const {
        const auto &table = physics.closure.table[Half];
        V sum = all_lanes(f[0]) * load(&table[0][k]);
        for (int m = 1; m < closure_columns; ++m)
            sum = madd(all_lanes(f[m]), load(&table[m][k]), sum);
        for (int l = 0; l < std::min(lanes<T>, closure_rows); ++l)
            d[l] = sum[l];
    }

    // What layers leave of a field; A and B: the axes along which it lies at half points, -1: none.
    template <int A, int B> [[gnu::always_inline]] V kept(V value, int64_t k, const Part &part) const {
        if constexpr (Layers)
            for (int axis = 0; axis < 3; ++axis)
                if (const T *keep = crossed[axis].keep[axis == A || axis == B])
                    value *= axis == 2 ? part.load(keep + k) : all_lanes(*keep);
        return value;
    }

    template <int Field, int Buoyancy, int Axis, class Force>
    [[gnu::always_inline]] void add(const Force &force) const {
        T *v = row(Field);
        const T *b = model(Buoyancy);
        each([&](int64_t k, const Part &part) [[gnu::always_inline]] {
            part.store(v + k, kept<Axis, -1>(madd(part.load(b + k), force(k, part), load(v + k)), k, part));
        });
    }

    // The increment of a stress less what its mechanism has relaxed in the middle of the step; r: what that relaxes.
    [[gnu::always_inline]] V relaxed(int stress, V increment, V r, int64_t k, const Part &part) const {
        const Relaxation<T> &relaxation = physics.relaxation;
        const int64_t at = relaxation.row(i, j) + k;
        T *zeta = relaxation.zeta[stress] + w.model_at(i, j) + k;
        const V before = part.load(zeta),
                after = madd(part.load(&relaxation.decay[at]), before, part.load(&relaxation.rest[at]) * r);
        part.store(zeta, after);
        prefetch(zeta + w.model_stride[Y ? 1 : 0]);
        return madd(all_lanes(T(-0.5)), before + after, increment);
    }

    template <int A, int B>
    [[gnu::always_inline]] void add_to(int field, V increment, int64_t k, const Part &part) const {
        T *s = row(field);
        part.store(s + k, kept<A, B>(load(s + k) + increment, k, part));
    }

    void normal() const {
        const T *p = model(F::p), *lame = model(F::lame);
        const T *defect_p = nullptr, *defect_s = nullptr;
        if constexpr (Relaxing) {
            defect_p = model(F::defect_p);
            defect_s = model(F::defect_s);
        }
        each([&](int64_t k, const Part &part) [[gnu::always_inline]] {
            fetch<0>(F::vx, k);
            fetch<2>(F::sxx, k);
            fetch<2>(F::szz, k);
            fetch_model(p, k);
            fetch_model(lame, k);
            if constexpr (Y)
                fetch<2>(F::syy, k);
            if constexpr (Relaxing) {
                fetch_model(defect_p, k);
                fetch_model(defect_s, k);
            }
            const V xx = along<0, 0, false>(F::vx, k, part);
            V yy{}, across = xx;
            if constexpr (Y) {
                yy = along<1, 1, false>(F::vy, k, part);
                across += yy;
            }
            V zz = along<2, 2, false>(F::vz, k, part);
            const V m = part.load(p + k), l = part.load(lame + k);
            if constexpr (Surface)
                if (k == 0)
                    zz[0] = in_surface(across[0]);
            const V sum = across + zz, two_mu = m - l, pressure = m * sum;
            const auto stress = [&](int field, V others) [[gnu::always_inline]] {
                V increment = madd(-two_mu, others, pressure);
                if constexpr (Relaxing) {
                    const V r = madd(part.load(defect_p + k), pressure, -part.load(defect_s + k) * (two_mu * others));
                    increment = relaxed(field - F::sxx, increment, r, k, part);
                }
                add_to<-1, -1>(field, increment, k, part);
            };
            if constexpr (Y) {
                stress(F::sxx, yy + zz);
                stress(F::syy, xx + zz);
            } else {
                stress(F::sxx, zz);
            }
            stress(F::szz, across);
        });
    }

    // dvz/dz in the free surface, from the sum of the derivatives across: it leaves szz as it is.
    T in_surface(T across) const {
        const T p = *model(F::p), lame = *model(F::lame);
        if constexpr (Relaxing) {
            const Relaxation<T> &relaxation = physics.relaxation;
            const int64_t at = relaxation.row(i, j);
            const T zeta = relaxation.zeta[F::szz - F::sxx][w.model_at(i, j)], half = relaxation.rest[at] / 2,
                    rp = half * *model(F::defect_p) * p, rs = half * *model(F::defect_s) * (p - lame);
            return ((1 + relaxation.decay[at]) / 2 * zeta + (rp - rs - lame) * across) / (p - rp);
        } else {
            return -lame / p * across;
        }
    }

    // The shear stress of two axes, A before B.
    template <int Field, int Modulus, int A, int B> void shear() const {
        constexpr int va = F::component(A), vb = F::component(B);
        const T *mu = model(Modulus);
        each([&](int64_t k, const Part &part) [[gnu::always_inline]] {
            if constexpr (A == 0)
                fetch<0>(vb, k);
            fetch<2>(Field, k);
            fetch_model(mu, k);
            const V d = along<B, A, true>(va, k, part) + along<A, B, true>(vb, k, part);
            V increment = part.load(mu + k) * d;
            if constexpr (Relaxing)
                increment = relaxed(Field - F::sxx, increment, part.load(model(F::defect_s) + k) * increment, k, part);
            add_to<A, B>(Field, increment, k, part);
        });
    }
};

} // namespace fathometer::elastic
