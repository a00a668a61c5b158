// From a stencil's reach, known at run time, to the kernels compiled for it.
#include <stdexcept>

#include "steps.hpp"

namespace fathometer::cuda {

template <class T> Steps<T> steps_of(int radius, int fields, bool has_y) {
    switch (radius) {
#define FATHOMETER_CASE(R)                                                                                             \
    case R:                                                                                                            \
        return steps_with_reach<R, T>(fields, has_y);
#if defined(FATHOMETER_FEW_RADII) // builds of tests
        FATHOMETER_CASE(1)
        FATHOMETER_CASE(2)
        FATHOMETER_CASE(4)
#else
        FATHOMETER_CASE(1)
        FATHOMETER_CASE(2)
        FATHOMETER_CASE(3)
        FATHOMETER_CASE(4)
        FATHOMETER_CASE(5)
        FATHOMETER_CASE(6)
        FATHOMETER_CASE(7)
        FATHOMETER_CASE(8)
#endif
    default:
        throw std::invalid_argument("no kernels of the card for a stencil's reach of " + std::to_string(radius));
    }
}

template Steps<float> steps_of(int, int, bool);
template Steps<double> steps_of(int, int, bool);

} // namespace fathometer::cuda
