// Both stages of a time step in a piece of a row: derivatives, what layers add to them, the increments that they make.
//
// Before a loop over the piece all that it reads of the wavefield and the medium is copied to values of its own: for
// the compiler, what is stored in a field might be an address or a stride, which it would load again for every vector.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/lanes.hpp"
#include "elastic.hpp"
#include "fields.hpp"

namespace fathometer::elastic {

// What a layer does to the cells of a row.
template <class T> struct Crossed {
    T *memory[3] = {};                                    // null: the row is not in such a layer
    int64_t following = 0;                                // from a memory of the row to that of the next one
    const T *gain[2] = {}, *decay[2] = {}, *keep[2] = {}; // at nodes and half points; of z by k, else one value
};

// The layers that a row lies in or crosses. Those of z begin at whole vectors: a vector lies in one or not.
template <class T> struct AllCrossed {
    Crossed<T> sides[2], top, bottom; // of x and y, of z
    int64_t top_end = 0, bottom_begin = std::numeric_limits<int64_t>::max();

    const Crossed<T> &along_z(int64_t k) const { return k < top_end ? top : bottom; }
};

// A piece of a row, with all that its cells need. Sides: it lies in a layer of x or y. Surface: its first cells, of
// which k = 0 lies in the free surface.
template <bool Y, bool Sides, bool Relaxing, bool Surface, bool Whole, class T> class Piece {
    using F = Fields<Y>;
    using V = Vector<T>;
    using Part = Lanes<T, Whole>;

  public:
    Piece(const Wavefield<T> &w, const Elastic<T> &physics, const AllCrossed<T> &crossed, int64_t i, int64_t j,
          int64_t k0, int64_t k1)
        : w(w), physics(physics), crossed(crossed), i(i), j(j), k0(k0), k1(k1) {}

    void velocities() const {
        if constexpr (Y) {
            add<F::vx, F::bx, 0>(Derivative<0, 0, true, true>(*this, F::sxx),
                                 Derivative<1, 0, false, false>(*this, F::sxy),
                                 Derivative<2, 0, false, false>(*this, F::sxz));
            add<F::vy, F::by, 1>(Derivative<0, 1, false, true>(*this, F::sxy),
                                 Derivative<1, 1, true, true>(*this, F::syy),
                                 Derivative<2, 1, false, false>(*this, F::syz));
            add<F::vz, F::bz, 2>(Derivative<0, 2, false, true>(*this, F::sxz),
                                 Derivative<1, 2, false, true>(*this, F::syz),
                                 Derivative<2, 2, true, true>(*this, F::szz));
        } else {
            add<F::vx, F::bx, 0>(Derivative<0, 0, true, true>(*this, F::sxx),
                                 Derivative<2, 0, false, false>(*this, F::sxz));
            add<F::vz, F::bz, 2>(Derivative<0, 2, false, true>(*this, F::sxz),
                                 Derivative<2, 2, true, true>(*this, F::szz));
        }
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
    const Wavefield<T> &w;
    const Elastic<T> &physics;
    const AllCrossed<T> &crossed;
    const int64_t i, j, k0, k1;

    T *row(int field) const { return w.next(field) + w.at(i, j); }
    int64_t next_row() const { return w.stride[Y ? 1 : 0]; }

    // A row that is read or written at its own cells. Rows are too short for the processor to notice where the next one
    // begins: that is fetched with this one.
    template <class U> struct Row {
        U *at;
        int64_t next;

        [[gnu::always_inline]] V load(int64_t k, const Part &part) const {
            prefetch(at + next + k);
            return part.load(at + k);
        }
        [[gnu::always_inline]] void store(int64_t k, V value, const Part &part) const { part.store(at + k, value); }
    };
    Row<T> field(int number) const { return {row(number), next_row()}; }
    Row<const T> model(int array) const { return {w.model[array] + w.model_at(i, j), w.model_stride[Y ? 1 : 0]}; }
    Row<T> zeta(int stress) const {
        return {Relaxing ? physics.relaxation.zeta[stress] + w.model_at(i, j) : nullptr, w.model_stride[Y ? 1 : 0]};
    }

    // Calls body(k, part, whether the vector lies in a layer of z) for all vectors.
    template <class Body> [[gnu::always_inline]] void each(const Body &body) const {
        const int64_t first = k0, last = k1, top = std::min(crossed.top_end, last),
                      middle = std::min(crossed.bottom_begin, last);
        int64_t k = first - first % lanes<T>;
        while (k < last) {
            for (const int64_t end = k < top ? top : k < middle ? k : last; k < end; k += lanes<T>)
                body(k, Part(k, first, last), std::true_type{});
            for (; k < middle; k += lanes<T>)
                body(k, Part(k, first, last), std::false_type{});
        }
    }

    // The derivative of a field along an axis; `Half`: at the half points behind nodes, from a field at nodes, else the
    // other way round. Component: of the force or the velocity, whose memory it has in a layer. Fetch: of what the next
    // row will read the part that was not read before.
    template <int Axis, int Component, bool Half, bool Fetch> class Derivative {
      public:
        Derivative(const Piece &piece, int field)
            : stride(Axis == 2 ? 1 : piece.w.stride[Axis]), at(piece.row(field)),
              ahead(piece.next_row() + (Axis == 2 ? 0 : 2 * stride)),
              weight{all_lanes(piece.physics.weights[Axis][0]), all_lanes(piece.physics.weights[Axis][1])},
              piece(piece) {
            if constexpr (Sides && Axis < 2) {
                const Crossed<T> &c = piece.crossed.sides[Axis];
                if ((memory = c.memory[Component])) {
                    following = c.following;
                    gain = all_lanes(*c.gain[Half]);
                    decay = all_lanes(*c.decay[Half]);
                }
            }
        }

        template <class Layer> [[gnu::always_inline]] V operator()(int64_t k, const Part &part, Layer) const {
            if constexpr (Fetch)
                prefetch(at + ahead + k);
            const T *f = at + k - (Half ? 0 : stride);
            V d = madd(weight[1], load(f + 2 * stride) - load(f - stride), weight[0] * (load(f + stride) - load(f)));
            if constexpr (Surface && Axis == 2)
                piece.template close<Half>(at, k, d);
            if constexpr (Axis < 2 && Sides) {
                if (memory)
                    d += remembered(memory + k, following, gain, decay, d, part);
            } else if constexpr (Axis == 2 && Layer::value) {
                const Crossed<T> &c = piece.crossed.along_z(k);
                d += remembered(c.memory[Component] + k, c.following, part.load(c.gain[Half] + k),
                                part.load(c.decay[Half] + k), d, part);
            }
            return d;
        }

      private:
        const int64_t stride;
        const T *const at;
        const int64_t ahead; // from the row to the one that is fetched
        const V weight[2];
        const Piece &piece;
        T *memory = nullptr;
        int64_t following = 0;
        V gain{}, decay{};

        [[gnu::always_inline]] static V remembered(T *memory, int64_t following, V gain, V decay, V d,
                                                   const Part &part) {
            const V m = madd(decay, part.load(memory), gain * d);
            part.store(memory, m);
            prefetch(memory + following);
            return m;
        }
    };

    // The rows next to the free surface have derivatives of their own.
    template <bool Half> [[gnu::always_inline]] void close(const T *f, int64_t k, V &d) const {
        const auto &table = physics.closure.table[Half];
        V sum = all_lanes(f[0]) * load(&table[0][k]);
        for (int m = 1; m < closure_columns; ++m)
            sum = madd(all_lanes(f[m]), load(&table[m][k]), sum);
        d = first_lanes<closure_rows>(sum, d);
    }

    // What layers leave of a field; A and B: the axes along which it lies at half points, -1: none.
    template <int A, int B> class Kept {
      public:
        explicit Kept(const Piece &piece) : crossed(piece.crossed) {
            if constexpr (Sides)
                for (int axis = 0; axis < 2; ++axis) {
                    const T *keep = crossed.sides[axis].keep[axis == A || axis == B];
                    side[axis] = all_lanes(keep ? *keep : T(1));
                }
        }

        template <class Layer> [[gnu::always_inline]] V operator()(V value, int64_t k, const Part &part, Layer) const {
            if constexpr (Sides)
                value = value * side[0] * side[1];
            if constexpr (Layer::value)
                if (const T *keep = crossed.along_z(k).keep[A == 2 || B == 2])
                    value *= part.load(keep + k);
            return value;
        }

      private:
        const AllCrossed<T> &crossed;
        V side[2]{};
    };

    // A velocity, by the sum of the derivatives.
    template <int Field, int Buoyancy, int Axis, class... Derivatives>
    [[gnu::always_inline]] void add(const Derivatives &...derivatives) const {
        each([v = field(Field), b = model(Buoyancy), kept = Kept<Axis, -1>(*this),
              derivatives...](int64_t k, const Part &part, auto layer) [[gnu::always_inline]] {
            const V force = (... + derivatives(k, part, layer));
            v.store(k, kept(madd(b.load(k, part), force, v.load(k, part)), k, part, layer), part);
        });
    }

    // The increment of a stress less what its mechanism has relaxed in the middle of the step; r: what that relaxes.
    class Relaxed {
      public:
        explicit Relaxed(const Piece &piece) {
            if constexpr (Relaxing) {
                const Relaxation<T> &relaxation = piece.physics.relaxation;
                const int64_t first = relaxation.row(piece.i, piece.j);
                decay = &relaxation.decay[first];
                rest = &relaxation.rest[first];
            }
        }

        [[gnu::always_inline]] V operator()(const Row<T> &zeta, V increment, V r, int64_t k, const Part &part) const {
            const V before = zeta.load(k, part), after = madd(part.load(decay + k), before, part.load(rest + k) * r);
            zeta.store(k, after, part);
            return madd(all_lanes(T(-0.5)), before + after, increment);
        }

      private:
        const T *decay = nullptr, *rest = nullptr;
    };

    void normal() const {
        const Derivative<0, 0, false, true> dx(*this, F::vx);
        const Derivative<1, 1, false, false> dy(*this, F::vy); // in two dimensions not used
        const Derivative<2, 2, false, false> dz(*this, F::vz);
        const Row<const T> p = model(F::p), lame = model(F::lame), defect_p = model(Relaxing ? F::defect_p : F::p),
                           defect_s = model(Relaxing ? F::defect_s : F::p);
        const Row<T> sxx = field(F::sxx), syy = field(Y ? F::syy : F::sxx), szz = field(F::szz), zxx = zeta(0),
                     zyy = zeta(Y ? 1 : 0), zzz = zeta(Y ? 2 : 1);
        const Relaxed relaxed(*this);
        const Kept<-1, -1> kept(*this);
        each([=, this](int64_t k, const Part &part, auto layer) [[gnu::always_inline]] {
            const V xx = dx(k, part, layer);
            V yy{}, across = xx;
            if constexpr (Y) {
                yy = dy(k, part, layer);
                across += yy;
            }
            V zz = dz(k, part, layer);
            const V m = p.load(k, part), l = lame.load(k, part);
            if constexpr (Surface)
                if (k == 0)
                    zz[0] = in_surface(across[0]);
            const V sum = across + zz, two_mu = m - l, pressure = m * sum;
            V loss_p{}, loss_s{};
            if constexpr (Relaxing) {
                loss_p = defect_p.load(k, part);
                loss_s = defect_s.load(k, part);
            }
            const auto stress = [&](const Row<T> &to, const Row<T> &zeta, V others) [[gnu::always_inline]] {
                V increment = madd(-two_mu, others, pressure);
                if constexpr (Relaxing)
                    increment = relaxed(zeta, increment, madd(loss_p, pressure, -loss_s * (two_mu * others)), k, part);
                to.store(k, kept(to.load(k, part) + increment, k, part, layer), part);
            };
            if constexpr (Y) {
                stress(sxx, zxx, yy + zz);
                stress(syy, zyy, xx + zz);
            } else {
                stress(sxx, zxx, zz);
            }
            stress(szz, zzz, across);
        });
    }

    // dvz/dz in the free surface, from the sum of the derivatives across: it leaves szz as it is.
    T in_surface(T across) const {
        const T p = *model(F::p).at, lame = *model(F::lame).at;
        if constexpr (Relaxing) {
            const Relaxation<T> &relaxation = physics.relaxation;
            const int64_t at = relaxation.row(i, j);
            const T zeta = relaxation.zeta[F::szz - F::sxx][w.model_at(i, j)], half = relaxation.rest[at] / 2,
                    rp = half * *model(F::defect_p).at * p, rs = half * *model(F::defect_s).at * (p - lame);
            return ((1 + relaxation.decay[at]) / 2 * zeta + (rp - rs - lame) * across) / (p - rp);
        } else {
            return -lame / p * across;
        }
    }

    // The shear stress of two axes, A before B.
    template <int Field, int Modulus, int A, int B> void shear() const {
        each([da = Derivative<B, A, true, false>(*this, F::component(A)),
              db = Derivative<A, B, true, A == 0>(*this, F::component(B)), mu = model(Modulus),
              loss = model(Relaxing ? F::defect_s : Modulus), to = field(Field), zeta = zeta(Field - F::sxx),
              relaxed = Relaxed(*this), kept = Kept<A, B>(*this)](int64_t k, const Part &part, auto layer)
                 [[gnu::always_inline]] {
                     const V d = da(k, part, layer) + db(k, part, layer);
                     V increment = mu.load(k, part) * d;
                     if constexpr (Relaxing)
                         increment = relaxed(zeta, increment, part.load(loss.at + k) * increment, k, part);
                     to.store(k, kept(to.load(k, part) + increment, k, part, layer), part);
                 });
    }
};

} // namespace fathometer::elastic
