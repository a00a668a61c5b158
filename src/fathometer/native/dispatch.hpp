// From what is known at run time to what is known at compile time.
#pragma once

#include <stdexcept>

#include "wavefield.hpp"

namespace fathometer {

// f.template operator()<R>() for R = radius, 1 to 8.
template <class F> auto with_radius(int radius, F f) {
    switch (radius) {
    case 1:
        return f.template operator()<1>();
    case 2:
        return f.template operator()<2>();
    case 3:
        return f.template operator()<3>();
    case 4:
        return f.template operator()<4>();
    case 5:
        return f.template operator()<5>();
    case 6:
        return f.template operator()<6>();
    case 7:
        return f.template operator()<7>();
    case 8:
        return f.template operator()<8>();
    default:
        throw std::invalid_argument("the stencil radius must be 1 to 8");
    }
}

// What the sides of the grid add to a step.
enum class Sides { bare, damped, stretched };

// f.template operator()<R, Y, sides>() for a wavefield's radius, dimension and sides.
template <class T, class F> auto with_kind(const Wavefield<T> &w, F f) {
    return with_radius(w.radius, [&]<int R>() {
        auto with_sides = [&]<bool Y>() {
            return w.damping[0]       ? f.template operator()<R, Y, Sides::damped>()
                   : w.layers.empty() ? f.template operator()<R, Y, Sides::bare>()
                                      : f.template operator()<R, Y, Sides::stretched>();
        };
        return w.has_y ? with_sides.template operator()<true>() : with_sides.template operator()<false>();
    });
}

} // namespace fathometer
