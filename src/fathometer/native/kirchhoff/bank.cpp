#include "bank.hpp"

#include <algorithm>
#include <vector>

namespace fathometer::kirchhoff {

namespace {

// A triangle is the second difference of the twice integrated trace, over half its length; in double, since that grows
// with the square of the length.
class Integral {
  public:
    Integral(int64_t length, int64_t reach) : reach(reach), values(std::size_t(length + 2 * reach)) {}

    void of(const float *trace, int64_t length) {
        double once = 0, twice = 0;
        for (int64_t k = 0; k < length + reach; ++k) {
            once += k < length ? double(trace[k]) : 0.0;
            twice += once;
            values[std::size_t(k + reach)] = twice;
        }
    }
    // Sample k of the trace smoothed over half-length m.
    void smoothed(int64_t length, int64_t m, float *row) const {
        const double *at = values.data() + reach - 1;
        const double scale = 1.0 / (double(m) * double(m));
        for (int64_t k = 0; k < length; ++k)
            row[k] = float(scale * (at[k + m] - 2 * at[k] + at[k - m]));
    }

  private:
    int64_t reach;
    std::vector<double> values; // `reach` zeros, then the integral from the first sample on
};

int64_t longest(const Bank &bank) { return half_length(bank.unit, bank.rows - 1); }

} // namespace

void fill_bank(const Bank &bank, const float *traces, int64_t count, float *rows) {
    const int64_t length = bank.length();
#pragma omp parallel
    {
        std::vector<float> padded(static_cast<std::size_t>(length));
        Integral integral(length, longest(bank) + 1);
#pragma omp for schedule(dynamic, 1)
        for (int64_t t = 0; t < count; ++t) {
            std::copy_n(traces + t * bank.samples, bank.samples, padded.data() + bank.margin);
            float *row = rows + t * bank.rows * length;
            std::copy_n(padded.data(), length, row);
            if (bank.rows > 1)
                integral.of(padded.data(), length);
            for (int64_t k = 1; k < bank.rows; ++k)
                integral.smoothed(length, half_length(bank.unit, k), row + k * length);
        }
    }
}

void gather_bank(const Bank &bank, const float *rows, int64_t count, float *traces) {
    const int64_t length = bank.length();
#pragma omp parallel
    {
        std::vector<float> smoothed(static_cast<std::size_t>(length));
        std::vector<double> total(static_cast<std::size_t>(length));
        Integral integral(length, longest(bank) + 1);
#pragma omp for schedule(dynamic, 1)
        for (int64_t t = 0; t < count; ++t) {
            const float *row = rows + t * bank.rows * length;
            std::copy_n(row, length, total.data());
            for (int64_t k = 1; k < bank.rows; ++k) { // a triangle is its own transpose
                integral.of(row + k * length, length);
                integral.smoothed(length, half_length(bank.unit, k), smoothed.data());
                for (int64_t n = 0; n < length; ++n)
                    total[std::size_t(n)] += double(smoothed[std::size_t(n)]);
            }
            for (int64_t n = 0; n < bank.samples; ++n)
                traces[t * bank.samples + n] = float(total[std::size_t(n + bank.margin)]);
        }
    }
}

} // namespace fathometer::kirchhoff
