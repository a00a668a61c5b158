// An acoustic equation with all loops that it takes part in. An equation is a structure as in vti.hpp.
#pragma once

#include "row.hpp"

namespace fathometer::acoustic {

template <class Equation, class T> class Solved : public Acoustic<T> {
    static constexpr int fields = Equation::fields, models = Equation::models;

  public:
    Solved()
        : Acoustic<T>(fields, models,
                      {Equation::differentiated[0], Equation::differentiated[1], Equation::differentiated[2]}) {}

    std::unique_ptr<RowStepper<T>> stepper(const Wavefield<T> &w) const override {
        return with_radius(w.radius, [&]<int R>() {
            auto with_sides = [&]<bool Y>() {
                return this->sponge               ? make<R, Y, Sides::sponge>(w)
                       : this->pml.layers.empty() ? make<R, Y, Sides::bare>(w)
                                                  : make<R, Y, Sides::pml>(w);
            };
            return w.has_y ? with_sides.template operator()<true>() : with_sides.template operator()<false>();
        });
    }

    void inject(const Wavefield<T> &w, const Points<T> &points, const T *values, T scale, int64_t i, int64_t j,
                int64_t k0, int64_t k1) const override {
        T *next[fields];
        const T *model[models];
        for (int n = 0; n < fields; ++n)
            next[n] = w.next(n) + w.at(i, j);
        for (int n = 0; n < models; ++n)
            model[n] = w.model[n] + w.model_at(i, j);
        spread(points, values, scale, i, j, k0, k1, [&](int64_t k, T f) {
            if (this->sponge)
                f /= 1 + this->sponge.at(i, j, k);
            Equation::inject(model, k, f, next);
        });
    }

    void sample(const Wavefield<T> &w, const Points<T> &points, T *lines, int64_t i, int64_t j, int64_t k0,
                int64_t k1) const override {
        const T *now[fields];
        for (int n = 0; n < fields; ++n)
            now[n] = w.now(n) + w.at(i, j);
        take_lines(points, lines, i, j, k0, k1, [&](int64_t k) { return Equation::pressure(now, k); });
    }

    void image(const Wavefield<T> &w, int level, const Imaging<T> &imaging, int64_t i, int64_t j, int64_t k0,
               int64_t k1) const override {
        const T *field[fields];
        for (int n = 0; n < fields; ++n)
            field[n] = w.buffer[n][level] + w.origin + w.at(i, j);
        image_row(imaging, i, j, k0, k1, [=](int64_t k) { return Equation::pressure(field, k); });
    }

  private:
    template <int R, bool Y, Sides S> std::unique_ptr<RowStepper<T>> make(const Wavefield<T> &w) const {
        return std::make_unique<AcousticRows<Equation, R, Y, S, T>>(w, this->sponge, this->pml);
    }
};

} // namespace fathometer::acoustic
