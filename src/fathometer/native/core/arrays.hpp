// How Python's arrays come to the kernels: bound without conversion; the interpreter's lock is released in all work.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <stdexcept>

namespace fathometer {

namespace nb = nanobind;
using namespace nb::literals;

using Index3 = std::array<std::int64_t, 3>;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;
template <class T, int N> using Array = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N> using Input = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

inline void require(bool holds, const char *what) {
    if (!holds)
        throw std::invalid_argument(what);
}

} // namespace fathometer
