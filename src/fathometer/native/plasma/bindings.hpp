// Gyrokinetics for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer::plasma {

void bind_plasma(nanobind::module_ &m);

} // namespace fathometer::plasma
