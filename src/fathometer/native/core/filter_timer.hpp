// The time of HDF5's filters: a function in the place of a filter's own, which calls that.
#pragma once

#include <cstdint>

namespace fathometer {

// The address of such a function for the filter function (H5Z_func_t) at an address; of at most eight filters.
std::uintptr_t timed_filter(std::uintptr_t function);

// Seconds in all of them so far.
double filter_seconds();

} // namespace fathometer
