// Products of series with a band matrix: filters and interpolations whose weights lie around a place in the series.
#pragma once

#include <cstdint>

namespace fathometer {

// The band: output j takes `taps` samples from first[j] on, with weights[j * taps ...]. Beyond the ends of a series
// there is nothing.
struct Band {
    const int64_t *first;
    const double *weights;
    int64_t outputs, taps;
};

// result[r][j] = sum of weights series[r][first[j] + t] over t, in double, one product after the other in the order of
// t: of a series by itself, so that it does not depend on the others. series: (count, samples).
template <class T> void banded(const Band &band, const T *series, int64_t count, int64_t samples, T *result);

} // namespace fathometer
