#include "measure.hpp"

#include <omp.h>

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

} // namespace fathometer
