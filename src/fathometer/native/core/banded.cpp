#include "banded.hpp"

#include <algorithm>
#include <vector>

#include "simd.hpp"

namespace fathometer {

namespace {

// Series that are computed together: sums in registers, enough of them for the additions' latency; what is read of all
// of them fits the second-level cache.
constexpr int sums = 4, together = sums * lanes<double>;

// A product and a sum, each rounded: as NumPy has them.
void output(const double *weights, int64_t taps, const double *samples, double *result) {
    Vector<double> total[sums]{};
    for (int64_t t = 0; t < taps; ++t, samples += together)
        for (int s = 0; s < sums; ++s)
            total[s] += all_lanes(weights[t]) * load(samples + s * lanes<double>);
    for (int s = 0; s < sums; ++s)
        store(result + s * lanes<double>, total[s]);
}

} // namespace

template <class T> void banded(const Band &band, const T *series, int64_t count, int64_t samples, T *result) {
    // By sample, then series: a vector holds one sample of several series.
    std::vector<double> turned(std::size_t(samples * together)), row(together);
    for (int64_t start = 0; start < count; start += together) {
        const int64_t here = std::min<int64_t>(together, count - start);
        for (int64_t r = 0; r < here; ++r)
            for (int64_t k = 0; k < samples; ++k)
                turned[k * together + r] = double(series[(start + r) * samples + k]);
        for (int64_t j = 0; j < band.outputs; ++j) {
            const int64_t begin = std::clamp<int64_t>(-band.first[j], 0, band.taps);
            const int64_t end = std::clamp<int64_t>(samples - band.first[j], begin, band.taps);
            const int64_t from = begin < end ? band.first[j] + begin : 0;
            output(band.weights + j * band.taps + begin, end - begin, turned.data() + from * together, row.data());
            for (int64_t r = 0; r < here; ++r)
                result[(start + r) * band.outputs + j] = T(row[r]);
        }
    }
}

template void banded(const Band &, const float *, int64_t, int64_t, float *);
template void banded(const Band &, const double *, int64_t, int64_t, double *);

} // namespace fathometer
