// Python's view of what no wave equation has for itself: points, jobs, arrays, encoded and exact volumes, traces, what
// the machine gives, threads.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer {

void bind_core(nanobind::module_ &m);

} // namespace fathometer
