// Numbers whose arithmetic is that of the processors' kernels, bit for bit: each operation is rounded to the nearest,
// multiply-adds are those that are written (core/arithmetic.hpp), and results that are denormal become zero
// (core/denormals.hpp). Compiled with --fmad=false and, of float, --ftz=true; a card has no such mode for double, whose
// results are looked at one by one: double is there for tests.
//
// A result between the largest denormal number and the smallest normal one, which rounds to the latter, may be flushed
// by one and kept by the other: it is below 1.2e-38 (float).
#pragma once

#include <cfloat>
#include <cmath>

#include "card.hpp"

namespace fathometer::cuda {

template <class T> struct Real {
    T value;

    Real() = default;
    __host__ __device__ constexpr Real(T value) : value(value) {}
};

__host__ __device__ inline float flushed(float x) { return x; }
__host__ __device__ inline double flushed(double x) { return fabs(x) < DBL_MIN ? copysign(0.0, x) : x; }

#define FATHOMETER_REAL template <class T> __device__ inline Real<T>
FATHOMETER_REAL operator+(Real<T> a, Real<T> b) { return flushed(a.value + b.value); }
FATHOMETER_REAL operator-(Real<T> a, Real<T> b) { return flushed(a.value - b.value); }
FATHOMETER_REAL operator*(Real<T> a, Real<T> b) { return flushed(a.value * b.value); }
FATHOMETER_REAL operator/(Real<T> a, Real<T> b) { return flushed(a.value / b.value); }
FATHOMETER_REAL operator-(Real<T> a) { return -a.value; }
FATHOMETER_REAL madd(Real<T> a, Real<T> b, Real<T> c) { return flushed(std::fma(a.value, b.value, c.value)); }
#undef FATHOMETER_REAL

// V numbers that are loaded and stored together.
template <class T, int V> struct alignas(V * sizeof(T)) Pack {
    Real<T> lane[V];
};

template <int V, class T> __device__ inline Pack<T, V> load(const Real<T> *from) {
    return *reinterpret_cast<const Pack<T, V> *>(from);
}
template <int V, class T> __device__ inline void store(Real<T> *to, const Pack<T, V> &pack) {
    *reinterpret_cast<Pack<T, V> *>(to) = pack;
}

// Copies V numbers to shared memory beside the thread, which goes on; `await_copies` waits for all of its own.
template <int V, class T> __device__ inline void copy_beside(Real<T> *to, const Real<T> *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    constexpr int bytes = V * int(sizeof(T));
    const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(bytes));
#else
    store<V>(to, load<V>(from));
#endif
}
__device__ inline void await_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

} // namespace fathometer::cuda
