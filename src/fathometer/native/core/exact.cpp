#include "exact.hpp"

#include <cmath>
#include <stdexcept>

namespace fathometer {

template <class T>
void add_exactly(const View<const T> &values, const View<int64_t> &first, const View<int64_t> &second, double upper,
                 double lower) {
    // Powers of two: their reciprocals are exact.
    const double per_upper = 1 / upper, per_lower = 1 / lower;
    const double limit = upper * double(int64_t(1) << limb_bits);
    const auto [nx, ny, nz] = values.shape;
    int64_t outside = 0;
#pragma omp parallel for collapse(2) schedule(static) reduction(+ : outside)
    for (int64_t x = 0; x < nx; ++x)
        for (int64_t y = 0; y < ny; ++y) {
            const T *value = values.row(x, y);
            int64_t *a = first.row(x, y), *b = second.row(x, y);
            for (int64_t z = 0; z < nz; ++z) {
                // What is no number, or too large for an integer, is not converted to one.
                const bool fits = std::fabs(double(value[z])) < limit;
                outside += !fits;
                const double number = fits ? double(value[z]) : 0.0;
                const int64_t whole = int64_t(number * per_upper); // truncates
                const double rest = number - double(whole) * upper;
                a[z] += whole;
                b[z] += int64_t(rest * per_lower);
            }
        }
    if (outside)
        throw std::invalid_argument("values that are not finite, or too large for the sum");
}

// A mix in which each bit depends on all of bits and place, so that changes of several cells do not cancel (the
// finalizer of splitmix64: Steele, Lea, Flood 2014).
static inline uint64_t mixed(uint64_t bits, uint64_t place) {
    uint64_t mix = bits ^ (place + 1) * 0x9e3779b97f4a7c15u;
    mix = (mix ^ mix >> 30) * 0xbf58476d1ce4e5b9u;
    mix = (mix ^ mix >> 27) * 0x94d049bb133111ebu;
    return bits ? mix ^ mix >> 31 : 0;
}

template <class Bits>
uint64_t checksum(const View<const Bits> &values, int64_t ny, int64_t nz, const int64_t (&lo)[3]) {
    uint64_t total = 0;
    const auto [rows_x, rows_y, cells] = values.shape;
#pragma omp parallel for collapse(2) schedule(static) reduction(+ : total)
    for (int64_t x = 0; x < rows_x; ++x)
        for (int64_t y = 0; y < rows_y; ++y) {
            const Bits *value = values.row(x, y);
            const uint64_t place = uint64_t(((lo[0] + x) * ny + lo[1] + y) * nz + lo[2]);
            uint64_t sum = 0;
            for (int64_t z = 0; z < cells; ++z)
                sum += mixed(uint64_t(value[z]), place + uint64_t(z));
            total += sum;
        }
    return total;
}

template void add_exactly(const View<const float> &, const View<int64_t> &, const View<int64_t> &, double, double);
template void add_exactly(const View<const double> &, const View<int64_t> &, const View<int64_t> &, double, double);
template uint64_t checksum(const View<const uint32_t> &, int64_t, int64_t, const int64_t (&)[3]);
template uint64_t checksum(const View<const uint64_t> &, int64_t, int64_t, const int64_t (&)[3]);

} // namespace fathometer
