// Python's view of the barotropic solver's kernels and of the halos of blocks.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer::ocean {

void bind_barotropic(nanobind::module_ &m);

} // namespace fathometer::ocean
