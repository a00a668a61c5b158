// A wavefield as Python makes it, with checks of every array; the same for all wave equations.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "advance.hpp"
#include "arrays.hpp"
#include "bound_job.hpp"

namespace fathometer {

// The arrays that a wavefield works on; Python owns them, this keeps them alive. What physics add derives from it.
template <class T> class BoundWavefield {
  public:
    Wavefield<T> w{};

  protected:
    // As many buffers, two time levels a field, and model arrays as the physics asks for.
    BoundWavefield(const Physics<T> &physics, int radius, bool has_y, const Index3 &shape, const Index3 &first,
                   const std::vector<Array<T, 3>> &buffers, const std::vector<Array<T, 3>> &model, bool free_surface,
                   const std::array<std::array<bool, 2>, 3> &cut, int64_t exchanged) {
        require(radius >= 1 && radius <= max_radius, "radius must be 1 to 8");
        w.physics = &physics;
        w.radius = radius;
        w.has_y = has_y;
        w.free_surface = free_surface;
        w.exchanged = exchanged;
        for (int axis = 0; axis < 3; ++axis)
            std::copy(cut[axis].begin(), cut[axis].end(), w.cut[axis]);
        for (int axis = 0; axis < 3; ++axis) {
            w.n[axis] = shape[axis];
            const int64_t halo = axis == 1 && !has_y ? 0 : radius;
            require(first[axis] >= halo && first[axis] + shape[axis] + halo <= int64_t(buffers[0].shape(axis)),
                    "the halo of the field arrays is narrower than the stencil");
        }
        w.buffer.resize(physics.fields);
        for (std::size_t b = 0; b < buffers.size(); ++b) {
            check_arrays({{"buffers", buffers[b], shape_of<3>(buffers[0])}});
            w.buffer[b / 2][b % 2] = buffers[b].data();
        }
        for (const Array<T, 3> &array : model) {
            check_arrays({{"model", array, shape_of<3>(model[0])}, {"model", array, shape, at_least}});
            w.model.push_back(array.data());
        }
        for (int axis = 0; axis < 2; ++axis) {
            w.stride[axis] = buffers[0].stride(axis);
            w.model_stride[axis] = model[0].stride(axis);
        }
        w.origin = first[0] * w.stride[0] + first[1] * w.stride[1] + first[2];
        for (const auto *arrays : {&buffers, &model})
            keep3.insert(keep3.end(), arrays->begin(), arrays->end());
    }

    std::vector<Array<T, 3>> keep3;
    std::vector<Array<T, 1>> keep1;
};

// depth, block, tile, team
using TilingNumbers = std::array<int64_t, 4>;

inline Tiling tiling_of(const TilingNumbers &t) {
    require(t[0] >= 1 && t[1] >= 1 && t[2] >= 0 && t[3] >= 1, "depth, block and team are at least 1, tile at least 0");
    return {t[0], t[1], t[2], t[3]};
}

// Faces whose messages Python sends, `messages` being an object with
//   room(numbers)               two arrays [side * slots + slot][at least so many]: of what leaves and what comes
//   trade(side, slot, numbers)  begins to send and to receive
//   arrived(side, slot)         whether what was begun has ended
//   wait(sides_and_slots, most) until one of these has, or for so many seconds
template <class T> class BoundFaces : public Faces<T> {
  public:
    BoundFaces(int first, std::array<std::vector<int>, 2> fields, int64_t rows, int64_t row, nb::object messages)
        : Faces<T>(first, std::move(fields), rows, row), messages(messages) {}

    void require(int64_t numbers) override {
        if (out && int64_t(out->shape(1)) >= numbers)
            return;
        nb::gil_scoped_acquire guard;
        const nb::object rooms = messages.attr("room")(numbers);
        out = nb::cast<Array<T, 2>>(rooms[0]), in = nb::cast<Array<T, 2>>(rooms[1]);
        for (const auto &array : {*out, *in})
            check_arrays({{"room", array, {2 * Faces<T>::slots, numbers}, at_least}});
    }
    T *leaving(int side, int64_t message) override { return out->data() + place(side, message) * out->stride(0); }
    void trade(int side, int64_t message, int64_t numbers) override {
        call([&] { messages.attr("trade")(side, slot(message), numbers); });
    }
    bool arrived(int side, int64_t message) override {
        bool has = false;
        call([&] { has = nb::cast<bool>(messages.attr("arrived")(side, slot(message))); });
        return has;
    }
    const T *come(int side, int64_t message) const override {
        return in->data() + place(side, message) * in->stride(0);
    }
    void wait(const std::array<int64_t, 2> &of, double most) override {
        call([&] {
            nb::list some;
            for (int side = 0; side < 2; ++side)
                if (of[side] >= -1)
                    some.append(nb::make_tuple(side, slot(of[side])));
            messages.attr("wait")(some, most);
        });
    }
    bool failed() const override { return has_failed.load(std::memory_order_relaxed); }
    void rethrow() override {
        if (failed()) {
            has_failed = false;
            std::rethrow_exception(std::exchange(error, nullptr));
        }
    }

  private:
    nb::object messages;
    std::optional<Array<T, 2>> out, in;
    std::exception_ptr error;
    std::atomic<bool> has_failed{false};

    static int64_t slot(int64_t message) { return (message + Faces<T>::slots) % Faces<T>::slots; }
    static int64_t place(int side, int64_t message) { return side * Faces<T>::slots + slot(message); }

    // Exceptions must not leave the threads' region.
    template <class Call> void call(Call made) {
        nb::gil_scoped_acquire guard;
        try {
            made();
        } catch (...) {
            error = std::current_exception();
            has_failed = true;
        }
    }
};

// What Python does with a wavefield of any physics. Bound: a BoundWavefield<T>.
template <class T, class Bound> void bind_propagation(nb::class_<Bound> &wavefield) {
    wavefield
        .def_prop_rw(
            "level", [](const Bound &b) { return b.w.level; },
            [](Bound &b, int level) {
                require(level == 0 || level == 1, "level is 0 or 1");
                b.w.level = level;
            })
        .def(
            "advance",
            [](Bound &b, int64_t steps, const BoundJob<T> &job, TilingNumbers tiling, BoundFaces<T> *faces) {
                job.check(b.w, steps);
                advance(b.w, steps, job.job, tiling_of(tiling), faces);
            },
            "steps"_a, "job"_a, "tiling"_a, "faces"_a.none() = nb::none(), Unlocked())
        .def(
            "advance_inside",
            [](const Bound &b, int64_t n, int64_t steps, const BoundJob<T> &job, TilingNumbers tiling, int64_t part,
               int64_t parts) {
                job.check(b.w, n + steps);
                advance_inside(b.w, n, steps, job.job, tiling_of(tiling), part, parts);
            },
            "n"_a, "steps"_a, "job"_a, "tiling"_a, "part"_a, "parts"_a, Unlocked())
        .def(
            "advance_rim",
            [](const Bound &b, int64_t n, const BoundJob<T> &job, int64_t outer, int64_t inner) {
                job.check(b.w, n + 1);
                advance_rim(b.w, n, job.job, outer, inner);
            },
            "n"_a, "job"_a, "outer"_a, "inner"_a, Unlocked())
        .def(
            "skew", [](const Bound &b, const BoundJob<T> &job) { return skew(b.w, job.job); }, "job"_a)
        .def(
            "image",
            [](const Bound &b, const BoundJob<T> &job) {
                job.check(b.w, 0);
                for (const Imaging<T> &imaging : job.job.imaging)
                    image_all(b.w, imaging);
            },
            "job"_a, Unlocked(), "What the job does at its imaging steps, with the field as it is now.")
        .def("first_nonfinite", [](const Bound &b) { return first_nonfinite(b.w); }, Unlocked());
}

} // namespace fathometer
