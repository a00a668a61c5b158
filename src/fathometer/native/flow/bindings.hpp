// Incompressible flow for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer::flow {

void bind_flow(nanobind::module_ &m);

} // namespace fathometer::flow
