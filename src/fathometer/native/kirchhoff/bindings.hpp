// Time migration for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer::kirchhoff {

void bind_kirchhoff(nanobind::module_ &m);

} // namespace fathometer::kirchhoff
