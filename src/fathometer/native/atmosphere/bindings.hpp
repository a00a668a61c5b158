// The spectral atmosphere for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer::atmosphere {

void bind_atmosphere(nanobind::module_ &m);

} // namespace fathometer::atmosphere
