// Python's view of acoustic wavefields. Bind core first, whose points and jobs they take.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer::acoustic {

void bind_acoustic(nanobind::module_ &m);

} // namespace fathometer::acoustic
