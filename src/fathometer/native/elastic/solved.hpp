// Elastic waves with all loops that they take part in.
#pragma once

#include "core/imaging.hpp"
#include "core/points.hpp"
#include "rows.hpp"

namespace fathometer::elastic {

template <bool Y, class T> class Solved : public Elastic<T> {
    using F = Fields<Y>;

  public:
    explicit Solved(bool relaxing)
        : Elastic<T>(F::fields, F::models + (relaxing ? 2 : 0), {-1, -1, -1}, 2, 5), relaxing(relaxing) {}

    std::unique_ptr<RowStepper<T>> stepper(const Wavefield<T> &) const override {
        if (relaxing)
            return std::make_unique<ElasticRows<Y, true, T>>(*this);
        return std::make_unique<ElasticRows<Y, false, T>>(*this);
    }

    // Sources are added to the fields that this stage has advanced.
    void inject(const Wavefield<T> &w, const Points<T> &points, const T *values, T scale, int64_t i, int64_t j,
                int64_t k0, int64_t k1) const override {
        points.in_row(i, j, [&](int64_t p) {
            const int field = points.field[p];
            if (of_stresses(field) != (w.level == 1))
                return;
            const T value = values[points.column[p]] * scale;
            if (field == F::fields) {
                const int64_t column = this->floor->column_at(i, j);
                T &to = this->floor->water[column];
                spread_point<T>(points, p, value, i, j, k0, k1,
                                [&](int64_t, T f) { to = madd(this->floor->buoyancy[column], f, to); });
                return;
            }
            T *to = w.next(field) + w.at(i, j);
            if (w.level == 1) {
                spread_point<T>(points, p, value, i, j, k0, k1, [=](int64_t k, T f) { to[k] += f; });
            } else {
                const T *buoyancy = w.model[field] + w.model_at(i, j);
                spread_point<T>(points, p, value, i, j, k0, k1,
                                [=](int64_t k, T f) { to[k] = madd(buoyancy[k], f, to[k]); });
            }
        });
    }

    // Receivers record the fields that rest in this stage.
    void sample(const Wavefield<T> &w, const Points<T> &points, T *lines, int64_t i, int64_t j, int64_t k0,
                int64_t k1) const override {
        points.in_row(i, j, [&](int64_t p) {
            const int field = points.field[p];
            if (of_stresses(field) != (w.level == 0) || points.anchor[p] < k0 || points.anchor[p] >= k1)
                return;
            if (field == F::fields) {
                const T in_floor = this->floor->water[this->floor->column_at(i, j)];
                take_line(points, p, lines, i, j, [=](int64_t) { return in_floor; });
                return;
            }
            const T *from = w.now(field) + w.at(i, j);
            take_line(points, p, lines, i, j, [=](int64_t k) { return from[k]; });
        });
    }

    void free_surface(const Wavefield<T> &w, int64_t i, int64_t j, int64_t k0, int64_t) const override {
        if (w.level == 1 && k0 <= 0)
            w.next(F::szz)[w.at(i, j)] = 0;
    }

    // Pressure: less the mean of the normal stresses.
    void image(const Wavefield<T> &w, int level, const Imaging<T> &imaging, int64_t i, int64_t j, int64_t k0,
               int64_t k1) const override {
        const auto row = [&](int field) { return w.buffer[field][level] + w.origin + w.at(i, j); };
        const T *xx = row(F::sxx), *yy = row(Y ? F::syy : F::sxx), *zz = row(F::szz);
        image_row(imaging, i, j, k0, k1,
                  [=](int64_t k) { return Y ? (xx[k] + yy[k] + zz[k]) / T(-3) : (xx[k] + zz[k]) / T(-2); });
    }

  private:
    const bool relaxing;

    // Beyond the fields there is vz of the water in a floor that slopes.
    static bool of_stresses(int field) { return field >= F::velocities && field < F::fields; }
};

} // namespace fathometer::elastic
