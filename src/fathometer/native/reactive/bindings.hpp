// Reactive flow for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer::reactive {

void bind_reactive(nanobind::module_ &m);

} // namespace fathometer::reactive
