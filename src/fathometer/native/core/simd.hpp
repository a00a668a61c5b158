// Vectors as wide as the build's processor has them. The only file with instructions of a particular processor.
//
// Every operation acts lane by lane and rounds as madd() of arithmetic.hpp does: a cell's value does not depend on the
// lane in which it is computed, nor on the vector's width.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "arithmetic.hpp"

namespace fathometer {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class T> constexpr int lanes = vector_bytes / int(sizeof(T));

template <class T> struct VectorOf;
template <> struct VectorOf<float> {
    typedef float type __attribute__((vector_size(vector_bytes)));
};
template <> struct VectorOf<double> {
    typedef double type __attribute__((vector_size(vector_bytes)));
};
template <class T> using Vector = typename VectorOf<T>::type;

template <class T> [[gnu::always_inline]] inline Vector<T> all_lanes(T value) { return value - Vector<T>{}; }

template <class T> [[gnu::always_inline]] inline Vector<T> load(const T *from) {
    Vector<T> v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

template <class T> [[gnu::always_inline]] inline void store(T *to, Vector<T> v) { std::memcpy(to, &v, sizeof v); }

// Only the lanes first..last-1: the others are neither read nor written (a load gives zero there).
template <class T>
[[gnu::always_inline]] inline Vector<T> load_lanes(const T *from, std::int64_t first, std::int64_t last) {
    if (last - first == lanes<T>)
        return load(from);
    Vector<T> v{};
    for (std::int64_t l = first; l < last; ++l)
        v[l] = from[l];
    return v;
}

template <class T>
[[gnu::always_inline]] inline void store_lanes(T *to, Vector<T> v, std::int64_t first, std::int64_t last) {
    if (last - first == lanes<T>)
        return store(to, v);
    for (std::int64_t l = first; l < last; ++l)
        to[l] = v[l];
}

#if defined(__AVX512F__)
template <>
[[gnu::always_inline]] inline Vector<float> load_lanes<float>(const float *from, std::int64_t first,
                                                              std::int64_t last) {
    return Vector<float>(_mm512_maskz_loadu_ps(__mmask16((1u << last) - (1u << first)), from));
}
template <>
[[gnu::always_inline]] inline Vector<double> load_lanes<double>(const double *from, std::int64_t first,
                                                                std::int64_t last) {
    return Vector<double>(_mm512_maskz_loadu_pd(__mmask8((1u << last) - (1u << first)), from));
}
template <>
[[gnu::always_inline]] inline void store_lanes<float>(float *to, Vector<float> v, std::int64_t first,
                                                      std::int64_t last) {
    _mm512_mask_storeu_ps(to, __mmask16((1u << last) - (1u << first)), __m512(v));
}
template <>
[[gnu::always_inline]] inline void store_lanes<double>(double *to, Vector<double> v, std::int64_t first,
                                                       std::int64_t last) {
    _mm512_mask_storeu_pd(to, __mmask8((1u << last) - (1u << first)), __m512d(v));
}
#endif

[[gnu::always_inline]] inline Vector<float> madd(Vector<float> a, Vector<float> b, Vector<float> c) {
#if defined(__AVX512F__)
    return Vector<float>(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
#elif defined(__AVX2__) && defined(__FMA__)
    return Vector<float>(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
#else
    for (int l = 0; l < lanes<float>; ++l)
        c[l] = madd<float>(a[l], b[l], c[l]);
    return c;
#endif
}

[[gnu::always_inline]] inline Vector<double> madd(Vector<double> a, Vector<double> b, Vector<double> c) {
#if defined(__AVX512F__)
    return Vector<double>(_mm512_fmadd_pd(__m512d(a), __m512d(b), __m512d(c)));
#elif defined(__AVX2__) && defined(__FMA__)
    return Vector<double>(_mm256_fmadd_pd(__m256d(a), __m256d(b), __m256d(c)));
#else
    for (int l = 0; l < lanes<double>; ++l)
        c[l] = madd<double>(a[l], b[l], c[l]);
    return c;
#endif
}

// Rounded to the nearest, as the standard demands.
[[gnu::always_inline]] inline Vector<double> square_root(Vector<double> v) {
#if defined(__AVX512F__)
    return Vector<double>(_mm512_maskz_sqrt_pd(0xff, __m512d(v))); // the plain form warns (GCC 12)
#elif defined(__AVX2__)
    return Vector<double>(_mm256_sqrt_pd(__m256d(v)));
#else
    for (int l = 0; l < lanes<double>; ++l)
        v[l] = std::sqrt(v[l]);
    return v;
#endif
}

// As many lanes as a vector has, from lane S of `low` followed by `high` on; 0 <= S <= lanes.
template <int S, class V> [[gnu::always_inline]] inline V neighbours(V low, V high) {
    constexpr int n = int(sizeof(V) / sizeof(low[0]));
    if constexpr (S == 0)
        return low;
    else if constexpr (S == n)
        return high;
#if defined(__AVX512F__) // the compiler would take a permutation, which needs a register for its indices
    else if constexpr (n == 16)
        return V(_mm512_maskz_alignr_epi32(0xffff, __m512i(high), __m512i(low), S)); // the plain form warns (GCC 12)
    else
        return V(_mm512_maskz_alignr_epi64(0xff, __m512i(high), __m512i(low), S));
#else
    else
        return [&]<int... L>(std::integer_sequence<int, L...>) {
            return __builtin_shufflevector(low, high, (S + L)...);
        }(std::make_integer_sequence<int, n>());
#endif
}

// The first N lanes of one vector, followed by the others of another.
template <int N, class V> [[gnu::always_inline]] inline V first_lanes(V first, V others) {
    constexpr int n = int(sizeof(V) / sizeof(first[0]));
    if constexpr (N >= n)
        return first;
    else
        return [&]<int... L>(std::integer_sequence<int, L...>) {
            return __builtin_shufflevector(first, others, (L < N ? L : n + L)...);
        }(std::make_integer_sequence<int, n>());
}

// To halves (IEEE 754 binary16, as bits), rounded to the nearest, and back.
inline void to_halves(const float *from, int64_t n, uint16_t *to) {
    int64_t k = 0;
#if defined(__F16C__)
    for (; k + 8 <= n; k += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(to + k),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + k), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; k < n; ++k) {
        const _Float16 half = _Float16(from[k]);
        std::memcpy(to + k, &half, sizeof half);
    }
}

inline void from_halves(const uint16_t *from, int64_t n, float *to) {
    int64_t k = 0;
#if defined(__F16C__)
    for (; k + 8 <= n; k += 8)
        _mm256_storeu_ps(to + k, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + k))));
#endif
    for (; k < n; ++k) {
        _Float16 half;
        std::memcpy(&half, from + k, sizeof half);
        to[k] = float(half);
    }
}

// Ask for the cache line at an address to be brought near (second-level cache); reads nothing.
template <class T> [[gnu::always_inline]] inline void prefetch(const T *address) { __builtin_prefetch(address, 0, 2); }

} // namespace fathometer
