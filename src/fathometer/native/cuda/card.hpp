// What kernels for a graphics card are written with. nvcc compiles them; tests compile the same files with a C++
// compiler and tests/support/emulated_cuda.hpp, which runs blocks of threads one after the other: so that all but speed
// is tested on machines without a card.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#if defined(FATHOMETER_EMULATED)
#include <emulated_cuda.hpp> // of the tests
#else
#include <cuda_runtime.h>
#endif

namespace fathometer::cuda {

using std::int64_t;

constexpr int warp = 32;
constexpr int max_radius = 8, max_pairs = max_radius / 2;

inline void require(cudaError_t result, const char *what) {
    if (result == cudaSuccess)
        return;
    (void)cudaGetLastError(); // else the next call would report it again
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(result));
}

// kernel(arguments...) by blocks of threads. `meets`: whether threads of a block wait for one another.
template <bool meets = false, class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, cudaStream_t stream, Arguments... arguments) {
    if (blocks.x == 0 || blocks.y == 0 || blocks.z == 0)
        return;
#if defined(FATHOMETER_EMULATED)
    emulated::run(meets, blocks, threads, [&] { kernel(arguments...); });
#else
    kernel<<<blocks, threads, 0, stream>>>(arguments...);
    require(cudaGetLastError(), "start of a kernel");
#endif
}

constexpr int64_t parts_of(int64_t n, int64_t part) { return (n + part - 1) / part; }

} // namespace fathometer::cuda
