// Python's view of the kernels: arrays are bound without conversion, the interpreter's lock is released in all work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <stdexcept>
#include <string>

#include "advance.hpp"
#include "imaging.hpp"
#include "measure.hpp"
#include "memory.hpp"
#include "threads.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace fathometer;

namespace {

using Index3 = std::array<int64_t, 3>;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;
template <class T, int N> using Array = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N> using Input = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char *what) {
    if (!holds)
        throw std::invalid_argument(what);
}

Box box_of(const Index3 &lo, const Index3 &hi) { return {{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}}; }

// A wavefield with the arrays that it works on; Python owns them, this keeps them alive.
template <class T> class Bound {
  public:
    Wavefield<T> w{};

    Bound(int radius, bool has_y, Index3 shape, Index3 first, std::vector<Array<T, 3>> buffers,
          std::vector<Array<T, 3>> model, Input<T, 2> weights, Input<T, 2> staggered, std::vector<Array<T, 1>> damping,
          bool free_surface) {
        require(radius >= 1 && radius <= max_radius, "radius must be 1 to 8");
        require(buffers.size() == 2 || buffers.size() == 4, "two time levels of one or two fields are needed");
        require(model.size() == (buffers.size() == 2 ? 1 : 3), "one model array for one field, three for two");
        require(weights.shape(0) == 3 && int(weights.shape(1)) == radius + 1, "weights must be (3, radius + 1)");
        require(staggered.shape(0) == 3 && int(staggered.shape(1)) == (radius + 1) / 2, "staggered weights' shape");
        require(damping.empty() || damping.size() == 3, "damping needs one profile an axis");
        w.radius = radius;
        w.has_y = has_y;
        w.fields = int(buffers.size()) / 2;
        w.free_surface = free_surface;
        for (int axis = 0; axis < 3; ++axis) {
            w.n[axis] = shape[axis];
            const int64_t halo = axis == 1 && !has_y ? 0 : radius;
            require(first[axis] >= halo && first[axis] + shape[axis] + halo <= int64_t(buffers[0].shape(axis)),
                    "the halo of the field arrays is narrower than the stencil");
            for (int r = 0; r <= radius; ++r)
                w.weights[axis][r] = weights(axis, r);
            for (int m = 0; m < (radius + 1) / 2; ++m)
                w.staggered[axis][m] = staggered(axis, m);
            if (!damping.empty()) {
                require(int64_t(damping[axis].shape(0)) == shape[axis], "damping profiles cover the owned cells");
                w.damping[axis] = damping[axis].data();
            }
        }
        for (std::size_t b = 0; b < buffers.size(); ++b) {
            for (int axis = 0; axis < 3; ++axis)
                require(buffers[b].shape(axis) == buffers[0].shape(axis), "field arrays differ in shape");
            w.buffer[b / 2][b % 2] = buffers[b].data();
        }
        for (std::size_t m = 0; m < model.size(); ++m) {
            for (int axis = 0; axis < 3; ++axis)
                require(model[m].shape(axis) == model[0].shape(axis) && int64_t(model[m].shape(axis)) >= shape[axis],
                        "model arrays differ in shape or are too small");
            w.model[m] = model[m].data();
        }
        for (int axis = 0; axis < 2; ++axis) {
            w.stride[axis] = buffers[0].stride(axis);
            w.model_stride[axis] = model[0].stride(axis);
        }
        w.origin = first[0] * w.stride[0] + first[1] * w.stride[1] + first[2];
        keep3 = std::move(buffers);
        keep3.insert(keep3.end(), model.begin(), model.end());
        keep1 = std::move(damping);
    }

    void add_layer(int axis, bool in_row, int64_t cell_lo, int64_t half_lo, int64_t psi_first, Array<T, 3> psi,
                   Array<T, 3> zeta, Array<T, 1> psi_gain, Array<T, 1> psi_decay, Array<T, 1> zeta_gain,
                   Array<T, 1> zeta_decay) {
        Layer<T> layer{};
        layer.axis = axis;
        layer.in_row = in_row;
        layer.cell_lo = cell_lo;
        layer.cell_hi = cell_lo + int64_t(zeta_gain.shape(0));
        layer.half_lo = half_lo;
        layer.half_hi = half_lo + int64_t(psi_gain.shape(0));
        layer.psi = psi.data();
        layer.psi_first = psi_first;
        layer.zeta = zeta.data();
        const int64_t reach = (w.radius + 1) / 2;
        require(psi_gain.shape(0) == psi_decay.shape(0) && zeta_gain.shape(0) == zeta_decay.shape(0),
                "gain and decay differ in length");
        require(int64_t(zeta.shape(axis)) == layer.cell_hi - cell_lo, "zeta covers the layer's cells");
        require(psi_first <= std::min(cell_lo - reach, half_lo) &&
                    psi_first + int64_t(psi.shape(axis)) >= std::max(layer.cell_hi + reach - 1, layer.half_hi),
                "psi covers the half points that the layer's cells reach");
        for (int a = 0; a < 3; ++a)
            require(a == axis || (int64_t(psi.shape(a)) >= w.n[a] && int64_t(zeta.shape(a)) >= w.n[a]),
                    "a layer's memory covers the owned cells of the other axes");
        for (int a = 0; a < 2; ++a) {
            layer.psi_stride[a] = psi.stride(a);
            layer.zeta_stride[a] = zeta.stride(a);
        }
        layer.psi_gain = psi_gain.data();
        layer.psi_decay = psi_decay.data();
        layer.zeta_gain = zeta_gain.data();
        layer.zeta_decay = zeta_decay.data();
        w.layers.push_back(layer);
        for (auto &a : {psi, zeta})
            keep3.push_back(a);
        for (auto &a : {psi_gain, psi_decay, zeta_gain, zeta_decay})
            keep1.push_back(a);
    }

    Box checked(const Index3 &lo, const Index3 &hi) const {
        for (int axis = 0; axis < 3; ++axis)
            require(lo[axis] >= 0 && hi[axis] <= w.n[axis], "a box leaves the owned cells");
        return box_of(lo, hi);
    }

  private:
    std::vector<Array<T, 3>> keep3;
    std::vector<Array<T, 1>> keep1;
};

template <class T>
Points<T> make_points(Input<int64_t, 2> first, Input<int32_t, 2> count, Input<T, 3> weight, Input<int64_t, 1> column) {
    const std::size_t n = column.shape(0);
    require(first.shape(0) == n && count.shape(0) == n && weight.shape(0) == n && first.shape(1) == 3 &&
                count.shape(1) == 3 && weight.shape(1) == 3 && weight.shape(2) == max_weights,
            "points need first (n, 3), count (n, 3), weight (n, 3, 8), column (n)");
    return {{first.data(), first.data() + 3 * n},
            {count.data(), count.data() + 3 * n},
            {weight.data(), weight.data() + 3 * max_weights * n},
            {column.data(), column.data() + n}};
}

template <class T> void require_columns(const Points<T> &points, int64_t columns) {
    for (int64_t column : points.column)
        require(column >= 0 && column < columns, "a point's column is outside the series");
}

template <class T>
void advance_bound(Bound<T> &b, int64_t steps, const Points<T> *sources, const Input<T, 2> *injected, T scale,
                   const Points<T> *receivers, const Array<T, 2> *recorded) {
    Series<const T> in;
    Series<T> out;
    if (sources) {
        require(injected && int64_t(injected->shape(0)) >= steps, "a row of values is needed for every step");
        in = {injected->data(), int64_t(injected->shape(1))};
        require_columns(*sources, in.columns);
    }
    if (receivers) {
        require(recorded && int64_t(recorded->shape(0)) >= steps, "a row of room is needed for every step");
        out = {recorded->data(), int64_t(recorded->shape(1))};
        require_columns(*receivers, out.columns);
    }
    nb::gil_scoped_release unlocked;
    advance(b.w, steps, sources, in, scale, receivers, out);
}

template <class T> void bind(nb::module_ &m, const std::string &suffix) {
    nb::class_<Points<T>>(m, ("Points" + suffix).c_str())
        .def(
            "__init__",
            [](Points<T> *self, Input<int64_t, 2> first, Input<int32_t, 2> count, Input<T, 3> weight,
               Input<int64_t, 1> column) { new (self) Points<T>(make_points<T>(first, count, weight, column)); },
            "first"_a.noconvert(), "count"_a.noconvert(), "weight"_a.noconvert(), "column"_a.noconvert())
        .def("__len__", &Points<T>::size);

    nb::class_<Bound<T>>(m, ("Wavefield" + suffix).c_str())
        .def(nb::init<int, bool, Index3, Index3, std::vector<Array<T, 3>>, std::vector<Array<T, 3>>, Input<T, 2>,
                      Input<T, 2>, std::vector<Array<T, 1>>, bool>(),
             nb::kw_only(), "radius"_a, "has_y"_a, "shape"_a, "first"_a, "buffers"_a.noconvert(), "model"_a.noconvert(),
             "weights"_a.noconvert(), "staggered"_a.noconvert(), "damping"_a.noconvert(), "free_surface"_a)
        .def("add_layer", &Bound<T>::add_layer, nb::kw_only(), "axis"_a, "in_row"_a, "cell_lo"_a, "half_lo"_a,
             "psi_first"_a, "psi"_a.noconvert(), "zeta"_a.noconvert(), "psi_gain"_a.noconvert(),
             "psi_decay"_a.noconvert(), "zeta_gain"_a.noconvert(), "zeta_decay"_a.noconvert())
        .def_prop_rw(
            "level", [](const Bound<T> &b) { return b.w.level; },
            [](Bound<T> &b, int level) {
                require(level == 0 || level == 1, "level is 0 or 1");
                b.w.level = level;
            })
        .def(
            "stretch",
            [](Bound<T> &b, std::size_t index, int64_t lo, int64_t hi) {
                const Layer<T> &layer = b.w.layers.at(index);
                in_team([&] { stretch(b.w, layer, std::max(lo, layer.half_lo), std::min(hi, layer.half_hi)); });
            },
            "layer"_a, "lo"_a, "hi"_a, Unlocked())
        .def(
            "sweep",
            [](Bound<T> &b, Index3 lo, Index3 hi) {
                const Box box = b.checked(lo, hi);
                in_team([&] { sweep(b.w, box); });
            },
            "lo"_a, "hi"_a, Unlocked())
        .def(
            "inject",
            [](Bound<T> &b, const Points<T> &points, Input<T, 1> values, T scale) {
                require_columns(points, int64_t(values.shape(0)));
                in_team([&] { inject(b.w, points, values.data(), scale); });
            },
            "points"_a, "values"_a.noconvert(), "scale"_a, Unlocked())
        .def(
            "sample",
            [](Bound<T> &b, const Points<T> &points, Array<T, 1> values) {
                require_columns(points, int64_t(values.shape(0)));
                in_team([&] { sample(b.w, points, values.data()); });
            },
            "points"_a, "values"_a.noconvert(), Unlocked())
        .def(
            "finish_step",
            [](Bound<T> &b) {
                if (b.w.free_surface)
                    in_team([&] { mirror_surface(b.w); });
                b.w.level = 1 - b.w.level;
            },
            Unlocked())
        .def(
            "advance",
            [](Bound<T> &b, int64_t steps, const Points<T> *sources, std::optional<Input<T, 2>> injected, T scale,
               const Points<T> *receivers, std::optional<Array<T, 2>> recorded) {
                advance_bound(b, steps, sources, injected ? &*injected : nullptr, scale, receivers,
                              recorded ? &*recorded : nullptr);
            },
            "steps"_a, "sources"_a.none(), "injected"_a.noconvert().none(), "scale"_a, "receivers"_a.none(),
            "recorded"_a.noconvert().none())
        .def(
            "pressure",
            [](const Bound<T> &b, Index3 lo, Index3 hi, Array<T, 3> out) {
                const Box box = b.checked(lo, hi);
                for (int axis = 0; axis < 3; ++axis)
                    require(int64_t(out.shape(axis)) == box.hi[axis] - box.lo[axis], "the array's shape is the box's");
                pressure(b.w, box, out.data());
            },
            "lo"_a, "hi"_a, "out"_a.noconvert(), Unlocked())
        .def(
            "correlate",
            [](const Bound<T> &b, Index3 lo, Index3 hi, Array<T, 3> snapshot, Array<T, 3> image,
               Array<T, 3> illumination) {
                const Box box = b.checked(lo, hi);
                for (const auto &a : {snapshot, image, illumination})
                    for (int axis = 0; axis < 3; ++axis)
                        require(int64_t(a.shape(axis)) == box.hi[axis] - box.lo[axis],
                                "the arrays' shape is the box's");
                correlate(b.w, box, snapshot.data(), image.data(), illumination.data());
            },
            "lo"_a, "hi"_a, "snapshot"_a.noconvert(), "image"_a.noconvert(), "illumination"_a.noconvert(), Unlocked())
        .def("first_nonfinite", [](const Bound<T> &b) { return first_nonfinite(b.w); }, Unlocked());

    m.def(("zeros" + suffix).c_str(),
          [](Index3 shape) {
              for (int64_t n : shape)
                  require(n >= 0, "a shape is not negative");
              void *memory = allocate_zeroed(std::size_t(shape[0]) * shape[1] * shape[2] * sizeof(T));
              nb::capsule owner(memory, [](void *p) noexcept { release(p); });
              return nb::ndarray<nb::numpy, T, nb::ndim<3>>(
                  memory, {std::size_t(shape[0]), std::size_t(shape[1]), std::size_t(shape[2])}, owner);
          },
          "shape"_a, "Zeroed array on huge pages, first touched by the threads that will use it.");
}

} // namespace

NB_MODULE(_native, m) {
    m.doc() = "Kernels of Fathometer: wave propagation, injection, sampling, imaging, threads.";
    bind<float>(m, "Float32");
    bind<double>(m, "Float64");
    m.def(
        "triad",
        [](Array<float, 3> a, Input<float, 3> b, Input<float, 3> c) {
            require(a.size() == b.size() && a.size() == c.size(), "the arrays differ in size");
            triad(a.data(), b.data(), c.data(), int64_t(a.size()));
        },
        "a"_a.noconvert(), "b"_a.noconvert(), "c"_a.noconvert(), Unlocked(),
        "a = b + 3 c: what the memory gives, to measure the kernels by.");
    m.def("set_threads", &set_threads, "threads"_a);
    m.def("pin_threads", &pin_threads, "cpus"_a);
    m.def("thread_binding", &thread_binding);
}
