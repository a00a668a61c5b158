// From what is known at run time to what is known at compile time.
#pragma once

#include <stdexcept>

namespace fathometer {

// f.template operator()<R>() for R = radius, 1 to 8.
template <class F> auto with_radius(int radius, F f) {
    switch (radius) {
    case 1:
        return f.template operator()<1>();
    case 4:
        return f.template operator()<4>();
#ifndef FATHOMETER_FEW_RADII // builds with sanitizers, where each takes minutes to compile
    case 2:
        return f.template operator()<2>();
    case 3:
        return f.template operator()<3>();
    case 5:
        return f.template operator()<5>();
    case 6:
        return f.template operator()<6>();
    case 7:
        return f.template operator()<7>();
    case 8:
        return f.template operator()<8>();
#endif
    default:
        throw std::invalid_argument("the stencil radius must be 1 to 8");
    }
}

} // namespace fathometer
