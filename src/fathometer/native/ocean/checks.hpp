// What every array and number from Python must be.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "core/arrays.hpp"

namespace fathometer::ocean {

using Lengths = std::vector<int64_t>;

constexpr double any = std::numeric_limits<double>::lowest(), tiny = std::numeric_limits<double>::min();

// Also says what is wrong: "eta has the shape (1, 9, 9), not (1, 8, 9)".
template <class A> void require_shape(const A &array, const Lengths &shape, const char *name) {
    const Lengths found(array.shape_ptr(), array.shape_ptr() + array.ndim());
    if (found == shape)
        return;
    const auto text = [](const Lengths &lengths) {
        std::string words;
        for (int64_t length : lengths)
            words += (words.empty() ? "" : ", ") + std::to_string(length);
        return "(" + words + ")";
    };
    throw std::invalid_argument(std::string(name) + " has the shape " + text(found) + ", not " + text(shape));
}

template <class A> auto copied(const A &array, const Lengths &shape, const char *name, double least, double most) {
    using T = std::remove_const_t<typename A::Scalar>;
    require_shape(array, shape, name);
    std::vector<T> values(array.data(), array.data() + array.size());
    for (T value : values)
        if (!(std::isfinite(double(value)) && double(value) >= least && double(value) <= most))
            throw std::invalid_argument(std::string(name) + " has the value " + std::to_string(value));
    return values;
}

inline double checked(double value, const char *name, double least) {
    if (!(std::isfinite(value) && value >= least))
        throw std::invalid_argument(std::string(name) + " is " + std::to_string(value));
    return value;
}

} // namespace fathometer::ocean
