// How Python's arrays come to the kernels: bound without conversion; the interpreter's lock is released in all work.
//
// A binding says once what its arrays must be, in a table of a name, the array and its shape in terms of the others':
//
//     const auto [n, k] = shape_of<2>(series);
//     check_arrays({{"first", first, {m}}, {"result", result, {n, m}}});
//
// The type of an array's elements, the number of its axes and that its elements follow one another are said by its C++
// type; an argument made with _array is refused where it has another, never converted.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace fathometer {

namespace nb = nanobind;
using namespace nb::literals;

using Index3 = std::array<std::int64_t, 3>;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;
template <class T, int N> using Array = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N> using Input = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

inline auto operator""_array(const char *name, std::size_t) { return nb::arg(name).noconvert(); }

inline void require(bool holds, const char *what) {
    if (!holds)
        throw std::invalid_argument(what);
}

// The lengths of the N axes of an array.
template <int N, class A> std::array<std::int64_t, N> shape_of(const A &array) {
    std::array<std::int64_t, N> lengths;
    std::copy_n(array.shape_ptr(), N, lengths.begin());
    return lengths;
}

struct Shape {
    static constexpr std::size_t most_axes = 5;
    std::array<std::int64_t, most_axes> lengths{};
    std::size_t axes;

    Shape(std::initializer_list<std::int64_t> list) : axes(list.size()) { fill(list.begin()); }
    template <std::size_t N> Shape(const std::array<std::int64_t, N> &list) : axes(N) { fill(list.data()); }

  private:
    void fill(const std::int64_t *from) {
        require(axes <= most_axes, "an array has 5 axes at most");
        std::copy_n(from, axes, lengths.begin());
    }
};

enum Fit { exactly, at_least };

// A row of the table. An optional array that is not given need not be anything.
class ArrayCheck {
  public:
    template <class A>
    ArrayCheck(const char *name, const A &array, const Shape &shape, Fit fit = exactly)
        : name(name), found(array.shape_ptr()), axes(array.ndim()), wanted(shape), fit(fit) {}
    template <class A>
    ArrayCheck(const char *name, const std::optional<A> &array, const Shape &shape, Fit fit = exactly)
        : name(name), found(array ? array->shape_ptr() : nullptr), axes(array ? array->ndim() : 0), wanted(shape),
          fit(fit) {}

    // Says what is wrong: "eta has the shape (1, 9, 9), not (1, 8, 9)".
    void operator()() const {
        bool fits = axes == wanted.axes;
        for (std::size_t axis = 0; fits && axis < axes; ++axis)
            fits = fit == exactly ? found[axis] == wanted.lengths[axis] : found[axis] >= wanted.lengths[axis];
        if (found && !fits)
            throw std::invalid_argument(std::string(name) + " has the shape " + text(found, axes) + ", not " +
                                        text(wanted.lengths.data(), wanted.axes) + (fit == exactly ? "" : " or more"));
    }

  private:
    static std::string text(const std::int64_t *lengths, std::size_t axes) {
        std::string words;
        for (std::size_t axis = 0; axis < axes; ++axis)
            words += (axis ? ", " : "") + std::to_string(lengths[axis]);
        return "(" + words + ")";
    }

    const char *name;
    const std::int64_t *found;
    std::size_t axes;
    Shape wanted;
    Fit fit;
};

inline void check_arrays(std::initializer_list<ArrayCheck> table) {
    for (const ArrayCheck &array : table)
        array();
}

constexpr double any = std::numeric_limits<double>::lowest(), tiny = std::numeric_limits<double>::min();

// A number that must be finite and no less than `least`.
inline double checked(double value, const char *name, double least) {
    if (!(std::isfinite(value) && value >= least))
        throw std::invalid_argument(std::string(name) + " is " + std::to_string(value));
    return value;
}

// A copy of an array all of whose values must be finite and from `least` to `most`.
template <class A>
auto values_of(const char *name, const A &array, const Shape &shape, double least = any, double most = -any) {
    using T = std::remove_const_t<typename A::Scalar>;
    check_arrays({{name, array, shape}});
    std::vector<T> values(array.data(), array.data() + array.size());
    for (T value : values)
        if (!(std::isfinite(double(value)) && double(value) >= least && double(value) <= most))
            throw std::invalid_argument(std::string(name) + " has the value " + std::to_string(value));
    return values;
}

} // namespace fathometer
