// A time step of a row, for every acoustic equation: the derivatives, what the PML adds to them, and the increment of
// the fields that the equation makes of them, damped by the sponge. Sources are added afterwards.
#pragma once

#include "acoustic.hpp"
#include "core/dispatch.hpp"
#include "core/row.hpp"
#include "leapfrog.hpp"
#include "pml_rows.hpp"

namespace fathometer::acoustic {

// What the sides of the grid add to a step.
enum class Sides { bare, sponge, pml };

// The step of the cells of row (i, j) from their derivatives.
template <class Equation, Sides S, class T> class Update {
    static constexpr int fields = Equation::fields, models = Equation::models;

  public:
    Update(const Wavefield<T> &w, const Sponge<T> &sponge, const RowLayers<T> &layers, int64_t i, int64_t j)
        : layers(layers), eta_xy(S == Sides::sponge ? sponge.eta_dt[0][i] + sponge.eta_dt[1][j] : 0),
          eta_z(sponge.eta_dt[2]) {
        for (int n = 0; n < fields; ++n) {
            next[n] = w.next(n) + w.at(i, j);
            asm("" : "+r"(next[n])); // or it would be addressed by its distance from "now", with more instructions
        }
        for (int n = 0; n < models; ++n)
            model[n] = w.model[n] + w.model_at(i, j);
    }

    // The vector at k, `part` of which belongs to the cells; f and g: the fields that are differentiated across rows
    // and along them.
    template <class Part>
    [[gnu::always_inline]] inline void operator()(int64_t k, const Part &part, Vector<T> f, Vector<T> g, Vector<T> h,
                                                  Vector<T> l) const {
        if constexpr (S == Sides::pml)
            layers.add_along(k, l);
        Vector<T> m[models], now[fields];
        for (int n = 0; n < models; ++n)
            m[n] = part.load(model[n] + k);
        now[Equation::differentiated[0]] = f;
        now[Equation::differentiated[2]] = g;
        const auto force = Equation::force(m, h, l);
        if constexpr (S == Sides::sponge)
            advance(k, part, now, force, Damped<Vector<T>>{eta_xy + part.load(eta_z + k)});
        else
            advance(k, part, now, force, Undamped{});
    }

  private:
    T *next[fields]; // holds the level before until it is written
    const T *model[models];
    const RowLayers<T> &layers;
    const T eta_xy, *const eta_z;

    template <class Part, class Force, class Increment>
    [[gnu::always_inline]] inline void advance(int64_t k, const Part &part, const Vector<T> (&now)[fields],
                                               const Force &force, Increment increment) const {
        Vector<T> grown[fields];
        for (int n = 0; n < fields; ++n)
            grown[n] = now[n] - load(next[n] + k);
        for (int n = 0; n < fields; ++n)
            part.store(next[n] + k, now[n] + increment(grown[n], force[n]));
    }
};

template <class Equation, int R, bool Y, Sides S, class T> class AcousticRows : public RowStepper<T> {
  public:
    AcousticRows(const Wavefield<T> &w, const Sponge<T> &sponge, const Pml<T> &pml)
        : sponge(sponge), pml(pml), rows(w, pml) {}

    void step(const Wavefield<T> &w, const Box &halves, int64_t i, int64_t j, int64_t k0, int64_t k1,
              const Prefetch<T> &prefetch) override {
        if constexpr (S == Sides::pml) {
            const RowLayers<T> &layers = rows.row(w, halves, i, j, k0, k1);
            const bool in_x = layers.crossed(0), in_y = layers.crossed(1);
            if (in_x && Y && in_y)
                step_in<true, Y>(w, i, j, k0, k1, layers, prefetch);
            else if (in_x)
                step_in<true, false>(w, i, j, k0, k1, layers, prefetch);
            else if (Y && in_y)
                step_in<false, Y>(w, i, j, k0, k1, layers, prefetch);
            else
                step_in<false, false>(w, i, j, k0, k1, layers, prefetch);
        } else {
            step_in<false, false>(w, i, j, k0, k1, none, prefetch);
        }
    }

  private:
    const Sponge<T> &sponge;
    const Pml<T> &pml;
    PmlRows<R, T> rows;
    static constexpr RowLayers<T> none{};

    // A row that lies in layers of x or y or both or none.
    template <bool InX, bool InY>
    void step_in(const Wavefield<T> &w, int64_t i, int64_t j, int64_t k0, int64_t k1, const RowLayers<T> &layers,
                 const Prefetch<T> &prefetch) const {
        in_vectors<T>(k0, k1, [&]<bool Whole>(int64_t from, int64_t to) {
            cells<Whole, InX, InY>(w, i, j, from, to, layers, prefetch);
        });
    }

    // A function of its own, whose arguments travel in registers: a row is short.
    template <bool Whole, bool InX, bool InY>
    [[gnu::noinline]] void cells(const Wavefield<T> &w, int64_t i, int64_t j, int64_t k0, int64_t k1,
                                 const RowLayers<T> &layers, const Prefetch<T> &prefetch) const {
        constexpr int across = Equation::differentiated[0], along = Equation::differentiated[2];
        static_assert(Equation::differentiated[1] == across);
        differentiate_row<R, Y, Whole, across == along>(w, w.now(across) + w.at(i, j), w.now(along) + w.at(i, j), k0,
                                                        k1, prefetch, Across<R, InX, InY, T>(pml, layers),
                                                        Update<Equation, S, T>(w, sponge, layers, i, j));
    }
};

} // namespace fathometer::acoustic
