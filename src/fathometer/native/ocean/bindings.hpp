// Python's view of the ocean's three-dimensional kernels.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer::ocean {

void bind_ocean(nanobind::module_ &m);

} // namespace fathometer::ocean
