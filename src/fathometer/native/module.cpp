// Python's view of the kernels: arrays are bound without conversion, the interpreter's lock is released in all work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include "advance.hpp"
#include "blocks.hpp"
#include "measure.hpp"
#include "memory.hpp"
#include "threads.hpp"
#include "traces.hpp"

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
          bool free_surface, std::array<std::array<bool, 2>, 3> cut, int64_t exchanged) {
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
        w.exchanged = exchanged;
        for (int axis = 0; axis < 3; ++axis)
            std::copy(cut[axis].begin(), cut[axis].end(), w.cut[axis]);
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

  private:
    std::vector<Array<T, 3>> keep3;
    std::vector<Array<T, 1>> keep1;
};

template <class T>
Points<T> make_points(Input<int64_t, 2> first, Input<int32_t, 2> count, Input<T, 3> weight, Input<int64_t, 1> column,
                      Index3 shape, bool receivers) {
    const std::size_t n = column.shape(0);
    require(first.shape(0) == n && count.shape(0) == n && weight.shape(0) == n && first.shape(1) == 3 &&
                count.shape(1) == 3 && weight.shape(1) == 3 && weight.shape(2) == max_weights,
            "points need first (n, 3), count (n, 3), weight (n, 3, 8), column (n)");
    Points<T> points;
    points.first.assign(first.data(), first.data() + 3 * n);
    points.count.assign(count.data(), count.data() + 3 * n);
    points.weight.assign(weight.data(), weight.data() + 3 * max_weights * n);
    points.column.assign(column.data(), column.data() + n);
    points.sort_into_rows({shape[0], shape[1], shape[2]}, receivers);
    return points;
}

template <class T> void require_columns(const Points<T> &points, int64_t columns) {
    for (int64_t column : points.column)
        require(column >= 0 && column < columns, "a point's column is outside the series");
}

// A job with the arrays that it reads and writes, which it keeps alive.
template <class T> class BoundJob {
  public:
    Job<T> job{};

    BoundJob(nb::object sources, std::optional<Input<T, 2>> injected, T scale, nb::object receivers,
             std::optional<Array<T, 2>> recorded, Index3 lo, Index3 hi, std::optional<Array<T, 3>> snapshot,
             std::optional<Array<T, 3>> source, std::optional<Array<T, 3>> image,
             std::optional<Array<T, 3>> illumination)
        : points{sources, receivers} {
        if (!sources.is_none()) {
            require(injected.has_value(), "sources need a series");
            job.sources = nb::cast<const Points<T> *>(sources);
            job.injected = {injected->data(), int64_t(injected->shape(1))};
            job.scale = scale;
            steps = injected->shape(0);
            require_columns(*job.sources, job.injected.columns);
            series_in = *injected;
        }
        if (!receivers.is_none()) {
            require(recorded.has_value(), "receivers need room for a series");
            job.receivers = nb::cast<const Points<T> *>(receivers);
            job.recorded = {recorded->data(), int64_t(recorded->shape(1))};
            steps = std::min(steps, int64_t(recorded->shape(0)));
            require_columns(*job.receivers, job.recorded.columns);
            series_out = *recorded;
        }
        require(!source == !image && !image == !illumination, "source, image and illumination belong together");
        job.imaging.box = box_of(lo, hi);
        job.imaging.snapshot = keep(snapshot);
        job.imaging.source = keep(source);
        job.imaging.image = keep(image);
        job.imaging.illumination = keep(illumination);
    }

    void check(const Wavefield<T> &w, int64_t wanted) const {
        require(wanted >= 0 && wanted <= steps, "a row of the series is needed for every step");
        for (const Points<T> *p : {job.sources, job.receivers})
            require(!p || (p->rows_y == w.n[1] && int64_t(p->start.size()) == w.n[0] * w.n[1] + 1),
                    "the points were sorted for another block");
        if (job.imaging.snapshot || job.imaging.source)
            for (int axis = 0; axis < 3; ++axis)
                require(job.imaging.box.lo[axis] >= 0 && job.imaging.box.hi[axis] <= w.n[axis],
                        "a box leaves the owned cells");
    }

  private:
    int64_t steps = std::numeric_limits<int64_t>::max();
    std::array<nb::object, 2> points;
    std::optional<Input<T, 2>> series_in;
    std::optional<Array<T, 2>> series_out;
    std::vector<Array<T, 3>> volumes;

    T *keep(const std::optional<Array<T, 3>> &volume) {
        if (!volume)
            return nullptr;
        for (int axis = 0; axis < 3; ++axis)
            require(int64_t(volume->shape(axis)) == job.imaging.box.hi[axis] - job.imaging.box.lo[axis],
                    "the arrays' shape is the box's");
        volumes.push_back(*volume);
        return volume->data();
    }
};

// The shapes of a volume, its encoded cells and the scales of their blocks.
template <class A, class B, class C> void check_blocks(const A &volume, const B &encoded, const C &scales) {
    for (int axis = 0; axis < 3; ++axis)
        require(encoded.shape(axis) == volume.shape(axis) &&
                    int64_t(scales.shape(axis)) == blocks_of(int64_t(volume.shape(axis))),
                "the encoded cells have the volume's shape, and every block of 8^3 has a scale");
}

template <class T, class Raw, class Q> void bind_blocks(nb::module_ &m, const char *encode, const char *decode) {
    static_assert(sizeof(Raw) == sizeof(Q));
    m.def(
        encode,
        [](Input<T, 3> volume, Array<Raw, 3> encoded, Array<float, 3> scales) {
            check_blocks(volume, encoded, scales);
            const int64_t n[3] = {int64_t(volume.shape(0)), int64_t(volume.shape(1)), int64_t(volume.shape(2))};
            encode_blocks(volume.data(), n, reinterpret_cast<Q *>(encoded.data()), scales.data());
        },
        "volume"_a.noconvert(), "encoded"_a.noconvert(), "scales"_a.noconvert(), Unlocked());
    m.def(
        decode,
        [](Input<Raw, 3> encoded, Input<float, 3> scales, Array<T, 3> volume) {
            check_blocks(volume, encoded, scales);
            const int64_t n[3] = {int64_t(volume.shape(0)), int64_t(volume.shape(1)), int64_t(volume.shape(2))};
            decode_blocks(reinterpret_cast<const Q *>(encoded.data()), scales.data(), n, volume.data());
        },
        "encoded"_a.noconvert(), "scales"_a.noconvert(), "volume"_a.noconvert(), Unlocked());
}

Rows rows_of(const Input<uint8_t, 2> &rows, bool little) {
    return {rows.data(), int64_t(rows.shape(0)), int64_t(rows.shape(1)), little};
}

// depth, block, tile, team
using TilingNumbers = std::array<int64_t, 4>;

Tiling tiling_of(const TilingNumbers &t) {
    require(*std::min_element(t.begin(), t.end()) >= 1, "depth, block, tile and team are at least 1");
    return {t[0], t[1], t[2], t[3]};
}

template <class T> void bind(nb::module_ &m, const std::string &suffix) {
    nb::class_<Points<T>>(m, ("Points" + suffix).c_str())
        .def(
            "__init__",
            [](Points<T> *self, Input<int64_t, 2> first, Input<int32_t, 2> count, Input<T, 3> weight,
               Input<int64_t, 1> column, Index3 shape, bool receivers) {
                new (self) Points<T>(make_points<T>(first, count, weight, column, shape, receivers));
            },
            nb::kw_only(), "first"_a.noconvert(), "count"_a.noconvert(), "weight"_a.noconvert(), "column"_a.noconvert(),
            "shape"_a, "receivers"_a)
        .def("__len__", &Points<T>::size);

    nb::class_<BoundJob<T>>(m, ("Job" + suffix).c_str())
        .def(nb::init<nb::object, std::optional<Input<T, 2>>, T, nb::object, std::optional<Array<T, 2>>, Index3, Index3,
                      std::optional<Array<T, 3>>, std::optional<Array<T, 3>>, std::optional<Array<T, 3>>,
                      std::optional<Array<T, 3>>>(),
             nb::kw_only(), "sources"_a.none() = nb::none(), "injected"_a.noconvert().none() = nb::none(),
             "scale"_a = T(1), "receivers"_a.none() = nb::none(), "recorded"_a.noconvert().none() = nb::none(),
             "lo"_a = Index3{0, 0, 0}, "hi"_a = Index3{0, 0, 0}, "snapshot"_a.noconvert().none() = nb::none(),
             "source"_a.noconvert().none() = nb::none(), "image"_a.noconvert().none() = nb::none(),
             "illumination"_a.noconvert().none() = nb::none());

    nb::class_<Bound<T>>(m, ("Wavefield" + suffix).c_str())
        .def(nb::init<int, bool, Index3, Index3, std::vector<Array<T, 3>>, std::vector<Array<T, 3>>, Input<T, 2>,
                      Input<T, 2>, std::vector<Array<T, 1>>, bool, std::array<std::array<bool, 2>, 3>, int64_t>(),
             nb::kw_only(), "radius"_a, "has_y"_a, "shape"_a, "first"_a, "buffers"_a.noconvert(), "model"_a.noconvert(),
             "weights"_a.noconvert(), "staggered"_a.noconvert(), "damping"_a.noconvert(), "free_surface"_a, "cut"_a,
             "exchanged"_a)
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
            "advance",
            [](Bound<T> &b, int64_t steps, const BoundJob<T> &job, TilingNumbers tiling) {
                job.check(b.w, steps);
                advance(b.w, steps, job.job, tiling_of(tiling));
            },
            "steps"_a, "job"_a, "tiling"_a, Unlocked())
        .def(
            "advance_inside",
            [](const Bound<T> &b, int64_t steps, const BoundJob<T> &job, TilingNumbers tiling, int64_t part,
               int64_t parts) {
                job.check(b.w, steps);
                advance_inside(b.w, steps, job.job, tiling_of(tiling), part, parts);
            },
            "steps"_a, "job"_a, "tiling"_a, "part"_a, "parts"_a, Unlocked())
        .def(
            "advance_rim",
            [](const Bound<T> &b, int64_t n, const BoundJob<T> &job, bool last, int64_t outer, int64_t inner) {
                job.check(b.w, n + 1);
                advance_rim(b.w, n, job.job, last, outer, inner);
            },
            "n"_a, "job"_a, "last"_a, "outer"_a, "inner"_a, Unlocked())
        .def(
            "skew", [](const Bound<T> &b, const BoundJob<T> &job) { return skew(b.w, job.job); }, "job"_a)
        .def(
            "image",
            [](const Bound<T> &b, const BoundJob<T> &job) {
                job.check(b.w, 0);
                image_all(b.w, job.job.imaging);
            },
            "job"_a, Unlocked(), "What the job does at its last step, with the field as it is now.")
        .def("first_nonfinite", [](const Bound<T> &b) { return first_nonfinite(b.w); }, Unlocked());

    m.def(("zeros" + suffix).c_str(),
          [](Index3 shape, std::size_t stagger) {
              for (int64_t n : shape)
                  require(n >= 0, "a shape is not negative");
              const std::size_t skipped = stagger % staggers * stagger_bytes;
              void *memory = allocate_zeroed(std::size_t(shape[0]) * shape[1] * shape[2] * sizeof(T) + skipped);
              nb::capsule owner(memory, [](void *p) noexcept { release(p); });
              return nb::ndarray<nb::numpy, T, nb::ndim<3>>(
                  static_cast<char *>(memory) + skipped,
                  {std::size_t(shape[0]), std::size_t(shape[1]), std::size_t(shape[2])}, owner);
          },
          "shape"_a, "stagger"_a = 0,
          "Zeroed array on huge pages. Arrays that a kernel uses together should differ in `stagger`.");
}

} // namespace

NB_MODULE(FATHOMETER_VARIANT, m) {
    m.doc() = "Kernels of Fathometer: wave propagation, injection, sampling, imaging, threads.";
    bind<float>(m, "Float32");
    bind<double>(m, "Float64");
    bind_blocks<float, int8_t, int8_t>(m, "encode_int8", "decode_int8");
    bind_blocks<double, int8_t, int8_t>(m, "encode_int8", "decode_int8");
    bind_blocks<float, uint16_t, Half>(m, "encode_float16", "decode_float16");
    bind_blocks<double, uint16_t, Half>(m, "encode_float16", "decode_float16");
    m.def(
        "triad",
        [](Array<float, 3> a, Input<float, 3> b, Input<float, 3> c) {
            require(a.size() == b.size() && a.size() == c.size(), "the arrays differ in size");
            triad(a.data(), b.data(), c.data(), int64_t(a.size()));
        },
        "a"_a.noconvert(), "b"_a.noconvert(), "c"_a.noconvert(), Unlocked(),
        "a = b + 3 c: what the memory gives, to measure the kernels by.");
    m.def(
        "multiply_adds",
        [](std::int64_t rounds) {
            float sink = 0;
            return multiply_adds(rounds, &sink);
        },
        "rounds"_a, Unlocked(), "Flops of so many rounds of multiply-adds in registers: what the cores give.");
    m.def(
        "trace_words",
        [](Input<uint8_t, 2> rows, bool little, Input<int64_t, 1> places, Input<int32_t, 1> kinds,
           Array<double, 2> words) {
            require(places.shape(0) == kinds.shape(0) && words.shape(0) == places.shape(0) &&
                        words.shape(1) == rows.shape(0),
                    "words (k, n) need k places and kinds, and n rows");
            for (std::size_t k = 0; k < places.shape(0); ++k) {
                const int64_t bytes = word_bytes(WordKind(kinds(k)));
                require(bytes > 0 && places(k) >= 0 && places(k) + bytes <= int64_t(rows.shape(1)),
                        "a word lies outside the rows, or is of no kind");
                trace_words(rows_of(rows, little), places(k), WordKind(kinds(k)), words.data() + k * words.shape(1));
            }
        },
        "rows"_a.noconvert(), "little"_a, "places"_a.noconvert(), "kinds"_a.noconvert(), "words"_a.noconvert(),
        Unlocked(), "Words of the headers of traces as they lie in a file.");
    m.def(
        "trace_states",
        [](Input<uint8_t, 2> rows, bool little, int64_t header, int format, Array<uint8_t, 1> states) {
            require(states.shape(0) == rows.shape(0) && header >= 0 && header <= int64_t(rows.shape(1)),
                    "a state is needed for each row, and the header lies within it");
            trace_states(rows_of(rows, little), header, format, states.data());
        },
        "rows"_a.noconvert(), "little"_a, "header"_a, "format"_a, "states"_a.noconvert(), Unlocked(),
        "Of each trace as it lies in a file: bit 0, some sample is not zero; bit 1, some is no number in float32.");
    m.def("set_threads", &set_threads, "threads"_a);
    m.def("threads", &threads);
    m.def("pin_threads", &pin_threads, "cpus"_a);
    m.def("thread_binding", &thread_binding);
}
