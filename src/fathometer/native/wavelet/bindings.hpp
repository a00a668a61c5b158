// Python's names of the wavelet kernels.
#pragma once

#include <nanobind/nanobind.h>

namespace fathometer::wavelet {

void bind_wavelet(nanobind::module_ &m);

} // namespace fathometer::wavelet
