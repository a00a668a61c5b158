#include "measure.hpp"

namespace fathometer {

void triad(float *__restrict a, const float *__restrict b, const float *__restrict c, std::int64_t n) {
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < n; ++i)
        a[i] = b[i] + 3.0f * c[i];
}

} // namespace fathometer
