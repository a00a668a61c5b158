#include "measure.hpp"

#include <omp.h>

#include <array>

#include "simd.hpp"

namespace fathometer {

void triad(float *__restrict a, const float *__restrict b, const float *__restrict c, std::int64_t n) {
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < n; ++i)
        a[i] = b[i] + 3.0f * c[i];
}

double multiply_adds(std::int64_t rounds, float *sink) {
    constexpr int chains = 12; // more than latency times units asks for
    double flops = 0;
#pragma omp parallel reduction(+ : flops)
    {
        Vector<float> sums[chains];
        for (int c = 0; c < chains; ++c)
            sums[c] = all_lanes(float(c));
        const Vector<float> factor = all_lanes(0.999f), term = all_lanes(1e-3f);
        for (std::int64_t n = 0; n < rounds; ++n) {
#pragma GCC unroll 12
            for (int c = 0; c < chains; ++c)
                sums[c] = madd(sums[c], factor, term);
        }
        for (int c = 1; c < chains; ++c)
            sums[0] += sums[c];
        flops += 2.0 * lanes<float> * chains * double(rounds);
#pragma omp critical
        sink[0] += sums[0][0];
    }
    return flops;
}

namespace {

constexpr int row_length = 4096; // 16 KiB

// Both neighbours at each of as many places as a vector has lanes, added up.
[[gnu::always_inline]] inline Vector<float> neighbours(const float *row, const std::int32_t *places) {
#if defined(__AVX512F__)
    const __m512i k = _mm512_loadu_si512(places);
    const __m512d low = _mm512_i32gather_pd(_mm512_castsi512_si256(k), row, 4);
    const __m512d high = _mm512_i32gather_pd(_mm512_extracti64x4_epi64(k, 1), row, 4);
    return Vector<float>(_mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high)));
#elif defined(__AVX2__)
    const __m256i k = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(places));
    return Vector<float>(_mm256_add_ps(_mm256_i32gather_ps(row, k, 4), _mm256_i32gather_ps(row + 1, k, 4)));
#else
    Vector<float> sum;
    for (int l = 0; l < lanes<float>; ++l)
        sum[l] = row[places[l]] + row[places[l] + 1];
    return sum;
#endif
}

} // namespace

double gathers(std::int64_t rounds, float *sink) {
    constexpr int vectors = 64;
    double numbers = 0;
#pragma omp parallel reduction(+ : numbers)
    {
        std::array<float, row_length + 1> row;
        std::array<std::int32_t, vectors * lanes<float>> places;
        row.fill(1.0f);
        for (std::size_t n = 0; n < places.size(); ++n)
            places[n] = std::int32_t(n * 1021 % row_length);
        Vector<float> sums[4] = {};
        for (std::int64_t n = 0; n < rounds; ++n) {
            const std::int32_t *at = places.data() + (n * 4 % vectors) * lanes<float>;
            for (int c = 0; c < 4; ++c)
                sums[c] += neighbours(row.data(), at + c * lanes<float>);
        }
        numbers += 8.0 * lanes<float> * double(rounds);
#pragma omp critical
        sink[0] += (sums[0] + sums[1] + sums[2] + sums[3])[0];
    }
    return numbers;
}

} // namespace fathometer
