// Both stages of a time step in some cells of a row: derivatives, what layers add to them, the increments that they
// make.
//
// Before a loop over the cells all that it reads of the wavefield and the medium is copied to values of its own: for
// the compiler, what is stored in a field might be an address or a stride, which it would load again for every vector.
#pragma once

#include <algorithm>

#include "core/lanes.hpp"
#include "elastic.hpp"
#include "fields.hpp"

namespace fathometer::elastic {

// A layer that a row lies in or crosses; null: none.
template <class T> struct Crossed {
    const Layer<T> *layer = nullptr;
    int64_t memory = 0, cell = 0; // k = 0 of the row in memories, and the row in filters; of z, k = 0
};

// Those of z begin at whole vectors: a vector lies in one or not.
template <class T> struct AllCrossed {
    Crossed<T> sides[2], top, bottom; // of x and y, of z

    bool in_bottom(int64_t k) const { return bottom.layer && k >= bottom.layer->lo; }
    bool in_z(int64_t k) const { return in_bottom(k) || (top.layer && k < top.layer->hi); }
    const Crossed<T> &along_z(int64_t k) const { return in_bottom(k) ? bottom : top; }
};

// Whole vectors away from the free surface and from contacts, in a layer of z or in none.
template <bool InZ, class T> struct Inside : Lanes<T, true> {
    static constexpr bool surface = false, contact = false, layer = InZ;
    const Crossed<T> &z;
};

// Vectors of which some lanes count, and those with cells next to the free surface or to a contact.
template <class T> struct AtEnd : Lanes<T, false> {
    const bool surface, contact, layer;
    const Crossed<T> &z;
};

// The cells k0..k1 of a row, with all that they need. Sides: it lies in a layer of x or y.
template <bool Y, bool Sides, bool Relaxing, class T> class Piece {
    using F = Fields<Y>;
    using V = Vector<T>;

  public:
    Piece(const Wavefield<T> &w, const Elastic<T> &physics, const AllCrossed<T> &crossed, int64_t i, int64_t j,
          int64_t k0, int64_t k1)
        : w(w), physics(physics), crossed(crossed), i(i), j(j), k0(k0), k1(k1), at(w.origin + w.at(i, j)),
          model_at(w.model_at(i, j)), closed(w.free_surface ? closure_rows : 0),
          begin(std::max<int64_t>(closed, (k0 + lanes<T> - 1) & -lanes<T>)), end(k1 & -lanes<T>),
          top(std::min(end, crossed.top.layer ? crossed.top.layer->hi : 0)),
          middle(std::min(end, crossed.bottom.layer ? crossed.bottom.layer->lo : end)) {
        if (const auto *floor = physics.floor.get()) {
            const auto around = floor->window(i, j, w.n[2], Y);
            near = around.first;
            beyond = around.last;
            sloping = k0 < beyond && k1 > near;
        }
    }

    void velocities() const {
        if constexpr (Y) {
            add<F::vx, F::bx, x>(Derivative<x, x, half_points, fetched>(*this, F::sxx),
                                 Derivative<y, x, nodes, read_before>(*this, F::sxy),
                                 Derivative<z, x, nodes, read_before>(*this, F::sxz));
            add<F::vy, F::by, y>(Derivative<x, y, nodes, fetched>(*this, F::sxy),
                                 Derivative<y, y, half_points, fetched>(*this, F::syy),
                                 Derivative<z, y, nodes, read_before>(*this, F::syz));
            add<F::vz, F::bz, z>(Derivative<x, z, nodes, fetched>(*this, F::sxz),
                                 Derivative<y, z, nodes, fetched>(*this, F::syz),
                                 Derivative<z, z, half_points, fetched>(*this, F::szz));
        } else {
            add<F::vx, F::bx, x>(Derivative<x, x, half_points, fetched>(*this, F::sxx),
                                 Derivative<z, x, nodes, read_before>(*this, F::sxz));
            add<F::vz, F::bz, z>(Derivative<x, z, nodes, fetched>(*this, F::sxz),
                                 Derivative<z, z, half_points, fetched>(*this, F::szz));
        }
        if (sloping)
            water_in_floor();
    }

    void stresses() const {
        normal();
        shear<F::sxz, F::mxz, x, z>();
        if constexpr (Y) {
            shear<F::sxy, F::mxy, x, y>();
            shear<F::syz, F::myz, y, z>();
        }
    }

  private:
    const Wavefield<T> &w;
    const Elastic<T> &physics;
    const AllCrossed<T> &crossed;
    const int64_t i, j, k0, k1, at, model_at;
    const int64_t closed, begin, end; // next to the surface; whole vectors
    const int64_t top, middle;        // where the top layer and what is in no layer of z end, of these
    int64_t near = physics.contact.first, beyond = physics.contact.last; // cells next to a contact
    bool sloping = false;
    alignas(64) mutable T replaced[3][floor_window]; // derivatives along the axes in these cells, if it slopes
    mutable T in_water = 0;                          // that of szz along z, of the water in the floor

    T *row(int field) const { return w.buffer[field][0] + at; }
    int64_t next_row() const { return w.stride[Y ? 1 : 0]; }

    // A row that is read or written at its own cells. Rows are too short for the processor to notice where the next one
    // begins: that is fetched with this one.
    template <class U> struct Row {
        U *at;
        int64_t next;

        template <class Part> [[gnu::always_inline]] V load(int64_t k, const Part &part) const {
            prefetch(at + next + k);
            return part.load(at + k);
        }
        template <class Part> [[gnu::always_inline]] void store(int64_t k, V value, const Part &part) const {
            part.store(at + k, value);
        }
    };
    Row<T> field(int number) const { return {row(number), next_row()}; }
    Row<const T> model(int array) const { return {w.model[array] + model_at, w.model_stride[Y ? 1 : 0]}; }
    Row<T> zeta(int stress) const {
        return {Relaxing ? physics.relaxation.zeta[stress] + model_at : nullptr, w.model_stride[Y ? 1 : 0]};
    }

    // Calls body(k, part) for all vectors.
    template <class Body> [[gnu::always_inline]] void each(const Body &body) const {
        constexpr int64_t n = lanes<T>;
        const int64_t first = k0, last = k1, near = this->near, beyond = this->beyond;
        int64_t k = first & -n;
        while (k < last) {
            const bool contact = k >= near && k < beyond;
            const int64_t stop = contact ? beyond : k < near ? near : last;
            for (const int64_t to = std::min(stop, contact     ? last
                                                   : k < begin ? std::min(begin, last)
                                                   : k < end   ? k
                                                               : last);
                 k < to; k += n)
                body(k, AtEnd<T>{{k, first, last}, k < closed, contact, crossed.in_z(k), crossed.along_z(k)});
            if (k >= end || (k >= near && k < beyond))
                continue;
            const int64_t whole = std::min(end, k < near ? near : end);
            const Crossed<T> &z = crossed.along_z(k);
            for (const int64_t to = std::min(whole, k < top ? top : k < middle ? k : end); k < to; k += n)
                body(k, Inside<true, T>{{k, first, last}, z});
            for (const int64_t to = std::min(whole, middle); k < to; k += n)
                body(k, Inside<false, T>{{k, first, last}, z});
        }
    }

    enum Direction { x, y, z };
    enum Lattice { nodes, half_points };
    enum NextRow { read_before, fetched };

    // The derivative of a field along an axis, at the nodes from a field at half points, or at the half points behind
    // nodes from a field at nodes. Component: of the force or the velocity, whose memory it has in a layer. Next:
    // whether what the next row will read was read before, or must be fetched.
    template <Direction Axis, Direction Component, Lattice At, NextRow Next> class Derivative {
      public:
        Derivative(const Piece &piece, int field)
            : stride(Axis == z ? 1 : piece.w.stride[Axis]), at(piece.row(field)),
              ahead(piece.next_row() + (Axis == z ? 0 : 2 * stride)),
              weight{all_lanes(piece.physics.weights[Axis][0]), all_lanes(piece.physics.weights[Axis][1])},
              stage(field < F::velocities), piece(piece) {
            if constexpr (Sides && Axis != z) {
                const Crossed<T> &c = piece.crossed.sides[Axis];
                if (c.layer) {
                    memory = c.layer->memory[stage][Component] + c.memory;
                    following = c.layer->stride[Y ? 1 : 0];
                    gain = all_lanes(c.layer->gain[At][c.cell]);
                    decay = all_lanes(c.layer->decay[At][c.cell]);
                }
            }
            if ((Y || Axis != y) && piece.sloping)
                piece.slope(field, Axis, weight, At == half_points ? 0 : stride, stride);
        }

        template <class Part> [[gnu::always_inline]] V operator()(int64_t k, const Part &part) const {
            if constexpr (Next == fetched)
                prefetch(at + ahead + k);
            const T *f = at + k - (At == half_points ? 0 : stride);
            V d = madd(weight[1], load(f + 2 * stride) - load(f - stride), weight[0] * (load(f + stride) - load(f)));
            if (part.contact && piece.sloping)
                d = load(&piece.replaced[Axis][k - piece.near]);
            if constexpr (Axis == z) {
                if (part.surface)
                    piece.template close<At>(at, k, d);
                if (part.contact && !piece.sloping)
                    piece.join(2 * stage + (Component != z), at, k, d);
                if (part.layer) {
                    const Layer<T> &layer = *part.z.layer;
                    d += remembered(layer.memory[stage][Component] + part.z.memory + k, layer.stride[Y ? 1 : 0],
                                    part.load(layer.gain[At] + part.z.cell + k),
                                    part.load(layer.decay[At] + part.z.cell + k), d, part);
                }
            } else if constexpr (Sides) {
                if (memory)
                    d += remembered(memory + k, following, gain, decay, d, part);
            }
            return d;
        }

      private:
        const int64_t stride;
        const T *const at;
        const int64_t ahead; // from the row to the one that is fetched
        const V weight[2];
        const int stage;
        const Piece &piece;
        T *memory = nullptr;
        int64_t following = 0;
        V gain{}, decay{};

        template <class Part>
        [[gnu::always_inline]] static V remembered(T *memory, int64_t following, V gain, V decay, V d,
                                                   const Part &part) {
            const V m = madd(decay, part.load(memory), gain * d);
            part.store(memory, m);
            prefetch(memory + following);
            return m;
        }
    };

    // The rows next to the free surface have derivatives of their own.
    template <Lattice At> [[gnu::always_inline]] void close(const T *f, int64_t k, V &d) const {
        const auto &table = physics.closure.table[At];
        V sum = all_lanes(f[0]) * load(&table[0][k]);
        for (int m = 1; m < closure_columns; ++m)
            sum = madd(all_lanes(f[m]), load(&table[m][k]), sum);
        d = first_lanes<closure_rows>(sum, d);
    }

    // So have those next to a contact.
    [[gnu::always_inline]] void join(int number, const T *f, int64_t k, V &d) const {
        const Contact<T> &contact = physics.contact;
        const int64_t at = k - contact.first;
        d *= load(&contact.keep[number][at]);
        for (int m = 0; m < contact_columns; ++m)
            d = madd(all_lanes(f[contact.start + m]), load(&contact.table[number][m][at]), d);
    }

    // All derivatives of a field along an axis in the cells around a floor that slopes. behind: from a row to what a
    // derivative takes first; step: to the next.
    [[gnu::noinline]] void slope(int number, int axis, const V (&weight)[2], int64_t behind, int64_t step) const {
        const T *f = row(number) - behind;
        T *out = replaced[axis];
        for (int64_t k = near; k < beyond; k += lanes<T>)
            store(out + k - near, madd(weight[1], load(f + k + 2 * step) - load(f + k - step),
                                       weight[0] * (load(f + k + step) - load(f + k))));
        constexpr int points[] = {1, Y ? 2 : 4, Y ? 4 : 0, 0, Y ? 0 : 5, 0, 3, 5, 6}; // of the fields
        const T in_floor =
            physics.floor->derive(w, w.buffer[number][0] + w.origin, points[number], axis, i, j, {near, beyond}, out);
        if (number == F::szz && axis == z)
            in_water = in_floor;
    }

    // The water's own motion in a floor that slopes, of the derivative that was made for vz.
    void water_in_floor() const {
        const auto &floor = *physics.floor;
        const int64_t k = floor.row(0, i, j);
        if (k < k0 || k >= k1)
            return;
        const int64_t column = floor.column_at(i, j);
        T kept = 1;
        if constexpr (Sides)
            for (int axis = 0; axis < 2; ++axis)
                if (const Crossed<T> &c = crossed.sides[axis]; c.layer && c.layer->keep[0])
                    kept *= c.layer->keep[0][c.cell];
        floor.water[column] = kept * madd(floor.buoyancy[column], in_water, floor.water[column]);
    }

    // What layers leave of a field; A and B: the axes along which it lies at half points, -1: none.
    template <int A, int B> class Kept {
      public:
        explicit Kept(const Piece &piece) {
            if constexpr (Sides)
                for (int axis = 0; axis < 2; ++axis) {
                    const Crossed<T> &c = piece.crossed.sides[axis];
                    const T *keep = c.layer ? c.layer->keep[axis == A || axis == B] : nullptr;
                    side[axis] = all_lanes(keep ? keep[c.cell] : T(1));
                }
        }

        template <class Part> [[gnu::always_inline]] V operator()(V value, int64_t k, const Part &part) const {
            if constexpr (Sides)
                value = value * side[0] * side[1];
            if (part.layer)
                if (const T *keep = part.z.layer->keep[A == z || B == z])
                    value *= part.load(keep + part.z.cell + k);
            return value;
        }

      private:
        V side[2]{};
    };

    // A velocity, by the sum of the derivatives.
    template <int Field, int Buoyancy, Direction Axis, class... Derivatives>
    [[gnu::always_inline]] void add(const Derivatives &...derivatives) const {
        each([v = field(Field), b = model(Buoyancy), kept = Kept<Axis, -1>(*this),
              derivatives...](int64_t k, const auto &part) __attribute__((always_inline)) {
            const V force = (... + derivatives(k, part));
            v.store(k, kept(madd(b.load(k, part), force, v.load(k, part)), k, part), part);
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

        template <class Part>
        [[gnu::always_inline]] V operator()(const Row<T> &zeta, V increment, V r, int64_t k, const Part &part) const {
            const V before = zeta.load(k, part), after = madd(part.load(decay + k), before, part.load(rest + k) * r);
            zeta.store(k, after, part);
            return madd(all_lanes(T(-0.5)), before + after, increment);
        }

      private:
        const T *decay = nullptr, *rest = nullptr;
    };

    void normal() const {
        const Derivative<x, x, nodes, fetched> dx(*this, F::vx);
        const Derivative<y, y, nodes, read_before> dy(*this, F::vy); // in two dimensions not used
        const Derivative<z, z, nodes, read_before> dz(*this, F::vz);
        const Row<const T> p = model(F::p), lame = model(F::lame), defect_p = model(Relaxing ? F::defect_p : F::p),
                           defect_s = model(Relaxing ? F::defect_s : F::p);
        const Row<T> sxx = field(F::sxx), syy = field(Y ? F::syy : F::sxx), szz = field(F::szz), zxx = zeta(0),
                     zyy = zeta(Y ? 1 : 0), zzz = zeta(Y ? 2 : 1);
        const Relaxed relaxed(*this);
        const Kept<-1, -1> kept(*this);
        each([=, this]<class Part>(int64_t k, const Part &part) __attribute__((always_inline)) {
            const V xx = dx(k, part);
            V yy{}, across = xx;
            if constexpr (Y) {
                yy = dy(k, part);
                across += yy;
            }
            V zz = dz(k, part);
            const V m = p.load(k, part), l = lame.load(k, part);
            if (part.surface && k == 0)
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
                to.store(k, kept(to.load(k, part) + increment, k, part), part);
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
            const T zeta = relaxation.zeta[F::szz - F::sxx][model_at], half = relaxation.rest[at] / 2,
                    rp = half * *model(F::defect_p).at * p, rs = half * *model(F::defect_s).at * (p - lame);
            return ((1 + relaxation.decay[at]) / 2 * zeta + (rp - rs - lame) * across) / (p - rp);
        } else {
            return -lame / p * across;
        }
    }

    // The shear stress of two axes, A before B.
    template <int Field, int Modulus, Direction A, Direction B> void shear() const {
        each([da = Derivative<B, A, half_points, read_before>(*this, F::component(A)),
              db = Derivative<A, B, half_points, A == x ? fetched : read_before>(*this, F::component(B)),
              mu = model(Modulus), loss = model(Relaxing ? F::defect_s : Modulus), to = field(Field),
              zeta = zeta(Field - F::sxx), relaxed = Relaxed(*this),
              kept = Kept<A, B>(*this)](int64_t k, const auto &part) __attribute__((always_inline)) {
            const V d = da(k, part) + db(k, part);
            V increment = mu.load(k, part) * d;
            if constexpr (Relaxing)
                increment = relaxed(zeta, increment, part.load(loss.at + k) * increment, k, part);
            to.store(k, kept(to.load(k, part) + increment, k, part), part);
        });
    }
};

} // namespace fathometer::elastic
