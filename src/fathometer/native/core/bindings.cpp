#include "bindings.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "arrays.hpp"
#include "banded.hpp"
#include "blocks.hpp"
#include "bound_job.hpp"
#include "bound_wavefield.hpp"
#include "eikonal.hpp"
#include "exact.hpp"
#include "filter_timer.hpp"
#include "measure.hpp"
#include "memory.hpp"
#include "threads.hpp"
#include "traces.hpp"

namespace fathometer {

namespace {

// Receivers of one column give the sum of what they record.
template <class T> void add_to_columns(Points<T> &points) {
    std::set<int64_t> earlier;
    for (int64_t p = 0; p < points.size(); ++p) {
        if (points.column[p] < 0) {
            points.added.push_back(false);
            continue;
        }
        points.added.push_back(!earlier.insert(points.column[p]).second);
    }
}

template <class T>
Points<T> make_points(Input<int64_t, 2> first, Input<int32_t, 2> count, Input<T, 3> weight, Input<int64_t, 1> column,
                      Index3 shape, bool receivers, const std::optional<Input<int32_t, 1>> &field) {
    const auto [n] = shape_of<1>(column);
    check_arrays({{"first", first, {n, 3}},
                  {"count", count, {n, 3}},
                  {"weight", weight, {n, 3, max_weights}},
                  {"field", field, {n}}});
    Points<T> points;
    points.first.assign(first.data(), first.data() + 3 * n);
    points.count.assign(count.data(), count.data() + 3 * n);
    points.weight.assign(weight.data(), weight.data() + 3 * max_weights * n);
    points.column.assign(column.data(), column.data() + n);
    // A place that was NaN arrives as the least integer. Differences of these numbers must not overflow.
    for (int32_t cells : points.count)
        require(cells >= 1 && cells <= max_weights, "a point's box has 1 to 8 cells an axis");
    for (int64_t cell : points.first)
        require(cell > -farthest_cell && cell < farthest_cell, "a point's cell is no place on a grid");
    for (T value : points.weight)
        require(std::isfinite(value), "a point's weight is not finite");
    for (int64_t cells : shape)
        require(cells >= 1 && cells < farthest_cell, "a block has cells");
    if (field)
        points.field.assign(field->data(), field->data() + n);
    points.sort_into_rows({shape[0], shape[1], shape[2]}, receivers);
    if (field && receivers)
        add_to_columns(points);
    require(std::max(points.reach, points.farthest) <= max_weights,
            "a receiver's box lies outside the block and its halo");
    return points;
}

// Encoded cells have the volume's shape, and every block of 8^3 has a scale.
template <class A, class B, class C> Index3 blocks_shape(const A &volume, const B &encoded, const C &scales) {
    const auto [x, y, z] = shape_of<3>(volume);
    check_arrays({{"encoded", encoded, {x, y, z}}, {"scales", scales, {blocks_of(x), blocks_of(y), blocks_of(z)}}});
    return {x, y, z};
}

template <class T, class Raw, class Q> void bind_blocks(nb::module_ &m, const char *encode, const char *decode) {
    static_assert(sizeof(Raw) == sizeof(Q));
    m.def(
        encode,
        [](Input<T, 3> volume, Array<Raw, 3> encoded, Array<float, 3> scales) {
            const Index3 n = blocks_shape(volume, encoded, scales);
            encode_blocks(volume.data(), n.data(), reinterpret_cast<Q *>(encoded.data()), scales.data());
        },
        "volume"_array, "encoded"_array, "scales"_array, Unlocked());
    m.def(
        decode,
        [](Input<Raw, 3> encoded, Input<float, 3> scales, Array<T, 3> volume) {
            const Index3 n = blocks_shape(volume, encoded, scales);
            decode_blocks(reinterpret_cast<const Q *>(encoded.data()), scales.data(), n.data(), volume.data());
        },
        "encoded"_array, "scales"_array, "volume"_array, Unlocked());
}

TraceRows rows_of(const Input<uint8_t, 2> &rows, bool little) {
    const auto [n, row] = shape_of<2>(rows);
    return {rows.data(), n, row, little};
}

template <class T> void bind_propagation(nb::module_ &m, const std::string &suffix) {
    nb::class_<Points<T>>(m, ("Points" + suffix).c_str())
        .def(
            "__init__",
            [](Points<T> *self, Input<int64_t, 2> first, Input<int32_t, 2> count, Input<T, 3> weight,
               Input<int64_t, 1> column, Index3 shape, bool receivers, std::optional<Input<int32_t, 1>> field) {
                new (self) Points<T>(make_points<T>(first, count, weight, column, shape, receivers, field));
            },
            nb::kw_only(), "first"_array, "count"_array, "weight"_array, "column"_array, "shape"_a, "receivers"_a,
            "field"_array.none() = nb::none())
        .def("__len__", &Points<T>::size)
        .def_prop_ro("lines", [](const Points<T> &p) { return p.line.empty() ? 0 : p.line.back(); })
        .def(
            "add_up",
            [](const Points<T> &p, Input<T, 2> lines, Array<T, 2> recorded) {
                const auto [steps, columns] = shape_of<2>(recorded);
                check_arrays({{"lines", lines, {steps, p.line.empty() ? 0 : p.line.back()}}});
                for (int64_t column : p.column)
                    require(column >= -1 && column < columns, "a point's column is outside the series");
#pragma omp parallel for
                for (int64_t n = 0; n < steps; ++n)
                    add_up_lines(p, lines.data() + n * lines.shape(1), recorded.data() + n * columns);
            },
            "lines"_array, "recorded"_array, Unlocked());

    nb::class_<BoundJob<T>>(m, ("Job" + suffix).c_str())
        .def(nb::init<nb::object, std::optional<Input<T, 2>>, T, nb::object, std::optional<Array<T, 2>>,
                      std::optional<Input<int32_t, 3>>, int64_t>(),
             nb::kw_only(), "sources"_a.none() = nb::none(), "injected"_array.none() = nb::none(), "scale"_a = T(1),
             "receivers"_a.none() = nb::none(), "lines"_array.none() = nb::none(), "active"_array.none() = nb::none(),
             "start"_a = 0)
        .def("add_imaging", &BoundJob<T>::add_imaging, nb::kw_only(), "step"_a, "lo"_a, "hi"_a,
             "snapshot"_array.none() = nb::none(), "source"_array.none() = nb::none(),
             "image"_array.none() = nb::none(), "illumination"_array.none() = nb::none(),
             "What is done with the field after one of the job's steps, counted from 0.");

    nb::class_<BoundFaces<T>>(m, ("Faces" + suffix).c_str())
        .def(nb::init<int, std::array<std::vector<int>, 2>, int64_t, int64_t, nb::object>(), nb::kw_only(), "first"_a,
             "fields"_a, "rows"_a, "row"_a, "messages"_a)
        .def_prop_ro_static("slots", [](nb::handle) { return Faces<T>::slots; });

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

// A volume whose rows along z are contiguous, as slices of larger ones are.
template <class T, class Array> View<T> view_of(const Array &array) {
    require(array.shape(2) < 2 || array.stride(2) == 1, "rows along z must be contiguous");
    const auto [x, y, z] = shape_of<3>(array);
    return {array.data(), {x, y, z}, array.stride(0), array.stride(1)};
}

template <class T> using Slice = nb::ndarray<T, nb::ndim<3>, nb::device::cpu>;

template <class T> void bind_sums(nb::module_ &m) {
    m.def(
        "add_exactly",
        [](Slice<const T> values, Slice<int64_t> first, Slice<int64_t> second, double upper, double lower) {
            const Index3 shape = shape_of<3>(values);
            check_arrays({{"first", first, shape}, {"second", second, shape}});
            require(upper > 0 && lower > 0 && std::isfinite(upper) && std::isfinite(lower),
                    "upper and lower are powers of two");
            add_exactly<T>(view_of<const T>(values), view_of<int64_t>(first), view_of<int64_t>(second), upper, lower);
        },
        "values"_array, "first"_array, "second"_array, "upper"_a, "lower"_a, Unlocked(),
        "first += a, second += b, where values = a upper + b lower + rest by truncation.\n"
        "Raises ValueError, the sum being lost, where a value is not finite or not below 2^40 upper.");
}

template <class T> void bind_banded(nb::module_ &m) {
    m.def(
        "banded",
        [](Input<int64_t, 1> first, Input<double, 2> weights, Input<T, 2> series, Array<T, 2> result) {
            const auto [m, taps] = shape_of<2>(weights);
            const auto [n, samples] = shape_of<2>(series);
            check_arrays({{"first", first, {m}}, {"result", result, {n, m}}});
            // So that differences of these numbers do not overflow.
            for (int64_t j = 0; j < m; ++j)
                require(first(j) > -farthest_cell && first(j) < farthest_cell, "a sample is no place in a series");
            banded<T>({first.data(), weights.data(), m, taps}, series.data(), n, samples, result.data());
        },
        "first"_array, "weights"_array, "series"_array, "result"_array, Unlocked(),
        "result[r, j] = sum over t of weights[j, t] series[r, first[j] + t], in float64 in the order of t.\n"
        "Nothing lies beyond a series' ends. By the calling thread alone.");
}

template <class Bits> void bind_checksum(nb::module_ &m) {
    m.def(
        "checksum",
        [](Slice<const Bits> values, Index3 shape, Index3 lo) {
            const int64_t from[3] = {lo[0], lo[1], lo[2]};
            return checksum<Bits>(view_of<const Bits>(values), shape[1], shape[2], from);
        },
        "values"_array, "shape"_a, "lo"_a, Unlocked(),
        "Sum of bits x (2 place + 1) modulo 2^64; lo: place of the first cell in a volume of this shape.");
}

} // namespace

void bind_core(nb::module_ &m) {
    bind_propagation<float>(m, "Float32");
    bind_propagation<double>(m, "Float64");
    bind_blocks<float, int8_t, int8_t>(m, "encode_int8", "decode_int8");
    bind_blocks<double, int8_t, int8_t>(m, "encode_int8", "decode_int8");
    bind_blocks<float, uint16_t, Half>(m, "encode_float16", "decode_float16");
    bind_blocks<double, uint16_t, Half>(m, "encode_float16", "decode_float16");
    bind_sums<float>(m);
    bind_sums<double>(m);
    bind_banded<float>(m);
    bind_banded<double>(m);
    bind_checksum<uint32_t>(m);
    bind_checksum<uint64_t>(m);
    m.def(
        "triad",
        [](Array<float, 3> a, Input<float, 3> b, Input<float, 3> c) {
            const Index3 shape = shape_of<3>(a);
            check_arrays({{"b", b, shape}, {"c", c, shape}});
            triad(a.data(), b.data(), c.data(), int64_t(a.size()));
        },
        "a"_array, "b"_array, "c"_array, Unlocked(), "a = b + 3 c: what the memory gives, to measure the kernels by.");
    m.def(
        "multiply_adds",
        [](std::int64_t rounds) {
            float sink = 0;
            return multiply_adds(rounds, &sink);
        },
        "rounds"_a, Unlocked(), "Flops of so many rounds of multiply-adds in registers: what the cores give.");
    m.def(
        "gathers",
        [](std::int64_t rounds) {
            float sink = 0;
            return gathers(rounds, &sink);
        },
        "rounds"_a, Unlocked(), "Numbers of so many rounds of gathers from the first cache: what the cores give.");
    m.def(
        "trace_words",
        [](Input<uint8_t, 2> rows, bool little, Input<int64_t, 1> places, Input<int32_t, 1> kinds,
           Array<double, 2> words) {
            const auto [n, row] = shape_of<2>(rows);
            const auto [count] = shape_of<1>(places);
            check_arrays({{"kinds", kinds, {count}}, {"words", words, {count, n}}});
            for (int64_t k = 0; k < count; ++k) {
                const int64_t bytes = word_bytes(WordKind(kinds(k)));
                require(bytes > 0 && places(k) >= 0 && places(k) + bytes <= row,
                        "a word lies outside the rows, or is of no kind");
                trace_words(rows_of(rows, little), places(k), WordKind(kinds(k)), words.data() + k * n);
            }
        },
        "rows"_array, "little"_a, "places"_array, "kinds"_array, "words"_array, Unlocked(),
        "Words of the headers of traces as they lie in a file.");
    m.def(
        "trace_states",
        [](Input<uint8_t, 2> rows, bool little, int64_t header, int format, Array<uint8_t, 1> states) {
            const auto [n, row] = shape_of<2>(rows);
            check_arrays({{"states", states, {n}}});
            require(header >= 0 && header <= row, "the header lies within a row");
            trace_states(rows_of(rows, little), header, format, states.data());
        },
        "rows"_array, "little"_a, "header"_a, "format"_a, "states"_array, Unlocked(),
        "Of each trace as it lies in a file: bit 0, some sample is not zero; bit 1, some is no number in float32.");
    m.def(
        "trace_peaks",
        [](Input<uint8_t, 2> rows, bool little, int64_t header, int format, int64_t beside, Array<double, 1> peaks,
           Array<double, 1> rest) {
            const auto [n, row] = shape_of<2>(rows);
            check_arrays({{"peaks", peaks, {n}}, {"rest", rest, {n}}});
            require(beside >= 0 && header >= 0 && header <= row, "the header lies within a row");
            trace_peaks(rows_of(rows, little), header, format, beside, peaks.data(), rest.data());
        },
        "rows"_array, "little"_a, "header"_a, "format"_a, "beside"_a, "peaks"_array, "rest"_array, Unlocked(),
        "Of each trace as it lies in a file: the largest magnitude, and that of samples not beside it.");
    m.def(
        "first_arrivals",
        [](Input<double, 3> speed, std::array<double, 3> spacing, Array<double, 3> times) {
            const Index3 n = shape_of<3>(speed);
            check_arrays({{"speed", speed, {1, 1, 1}, at_least}, {"times", times, {n[0] + 1, n[1] + 1, n[2] + 1}}});
            for (double step : spacing)
                require(step > 0, "a spacing is positive");
            for (std::size_t block = 0; block < speed.size(); ++block)
                require(speed.data()[block] > 0 && std::isfinite(speed.data()[block]), "a speed is positive");
            for (std::size_t node = 0; node < times.size(); ++node)
                require(times.data()[node] >= 0, "a time is not negative");
            return first_arrivals(speed.data(), n, spacing, times.data());
        },
        "speed"_array, "spacing"_a, "times"_array, Unlocked(),
        "Lower the times of nodes until no wave arrives earlier; the sweeps taken. Speeds are of the blocks between.");
    m.def("set_threads", &set_threads, "threads"_a);
    m.def("threads", &threads);
    m.def("keep_freed_memory", &keep_freed_memory, "bytes"_a);
    m.def("timed_filter", &timed_filter, "function"_a);
    m.def("filter_seconds", &filter_seconds);
    m.def("pin_threads", &pin_threads, "cpus"_a);
    m.def("thread_binding", &thread_binding);
}

} // namespace fathometer
