// Elastic waves for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer::elastic {

void bind_elastic(nanobind::module_ &m);

} // namespace fathometer::elastic
