#include "barotropic_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace fathometer::ocean {

namespace {

constexpr int lanes = 8; // on every processor, so that a row's sum is the same
constexpr int limb_bits = 40, headroom = 16, most_headroom = 24, worst_loss = 32;
constexpr int lowest_exponent = -860; // of a limit: units stay normal numbers

typedef double Eight __attribute__((vector_size(8 * lanes)));
typedef uint64_t EightBits __attribute__((vector_size(8 * lanes)));

[[gnu::always_inline]] inline void load(Eight &to, const double *from) { std::memcpy(&to, from, sizeof to); }

[[gnu::always_inline]] inline void load_some(Eight &to, const double *from, int64_t n) {
    to = Eight{};
    for (int64_t l = 0; l < n; ++l)
        to[l] = from[l];
}

double plain_product(const double *v, const double *w, int64_t n) {
    Eight sum{}, a, b;
    int64_t k = 0;
    for (; k + lanes <= n; k += lanes) {
        load(a, v + k);
        load(b, w + k);
        sum += a * b;
    }
    if (k < n) {
        load_some(a, v + k, n - k);
        load_some(b, w + k, n - k);
        sum += a * b;
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

struct Cut {
    double limit, upper, lower; // the numbers that are added, 1.5 2^52 u
};

// total: sums of a, of b, and how many terms are beyond the limit. All arithmetic is modulo 2^64.
void exact_product(const Cut &cut, const double *v, const double *w, int64_t n, uint64_t *total) {
    const Eight upper = cut.upper - Eight{}, lower = cut.lower - Eight{}, limit = cut.limit - Eight{};
    EightBits a{}, b{}, within{};
    const auto add = [&](const Eight &first, const Eight &second) __attribute__((always_inline)) {
        const Eight x = first * second, high = x + upper, low = (x - (high - upper)) + lower;
        EightBits bits;
        std::memcpy(&bits, &high, sizeof bits);
        a += bits;
        std::memcpy(&bits, &low, sizeof bits);
        b += bits;
        within += EightBits((x < limit) & (x > -limit)); // a mask: all bits are 2^64 - 1
    };
    Eight first, second;
    int64_t k = 0;
    for (; k + lanes <= n; k += lanes) {
        load(first, v + k);
        load(second, w + k);
        add(first, second);
    }
    if (k < n) {
        load_some(first, v + k, n - k);
        load_some(second, w + k, n - k);
        add(first, second);
        k += lanes;
    }
    uint64_t upper_bits, lower_bits;
    std::memcpy(&upper_bits, &cut.upper, sizeof upper_bits);
    std::memcpy(&lower_bits, &cut.lower, sizeof lower_bits);
    total[0] = -uint64_t(k) * upper_bits;
    total[1] = -uint64_t(k) * lower_bits;
    total[2] = uint64_t(k);
    for (int l = 0; l < lanes; ++l) {
        total[0] += a[l];
        total[1] += b[l];
        total[2] += within[l];
    }
}

} // namespace

Sums::Sums(const WaterRows &rows, bool exact, int products) : exact(exact), rows(rows), windows(products) {
    if (exact)
        row_limbs.resize(rows.rows.size() * most_sums * 3);
    else
        row_sums.resize(rows.rows.size() * most_sums);
    forget();
}

void Sums::begin(const int *products, int number) {
    count = number;
    std::copy(products, products + number, begun);
}

void Sums::add(int n, const WaterRow &row, int64_t number, const double *v, const double *w) {
    const int64_t from = row.start + row.y0, cells = row.y1 - row.y0;
    if (!exact) {
        row_sums[number * most_sums + n] = plain_product(v + from, w + from, cells);
        return;
    }
    const Window &window = windows[begun[n]];
    exact_product({window.limit, 0x1.8p52 * window.upper, 0x1.8p52 * window.lower}, v + from, w + from, cells,
                  row_limbs.data() + (number * most_sums + n) * 3);
}

void Sums::end(double *plain, int64_t *out) {
    if (exact) {
        uint64_t sum[3 * most_sums] = {};
        for (size_t row = 0; row < rows.rows.size(); ++row)
            for (int k = 0; k < 3 * count; ++k)
                sum[k] += row_limbs[row * most_sums * 3 + k];
        out[2 * count] = 0;
        for (int n = 0; n < count; ++n) {
            out[2 * n] = int64_t(sum[3 * n]);
            out[2 * n + 1] = int64_t(sum[3 * n + 1]);
            out[2 * count] += int64_t(sum[3 * n + 2]);
        }
        return;
    }
    double total[most_sums] = {};
    for (size_t row = 0; row < rows.rows.size(); ++row)
        for (int n = 0; n < count; ++n)
            total[n] += row_sums[row * most_sums + n];
    std::copy(total, total + count, plain);
}

double Sums::largest(const WaterRow &row, const double *v, const double *w) {
    double most = 0;
    bool finite = true;
    for (int64_t k = row.start + row.y0; k < row.start + row.y1; ++k) {
        const double size = std::fabs(v[k] * w[k]);
        finite &= size <= std::numeric_limits<double>::max();
        most = std::max(most, size);
    }
    return finite ? most : std::numeric_limits<double>::infinity();
}

void Sums::forget() {
    for (Window &window : windows) {
        set(window, 0);
        window.headroom = headroom;
        window.known = window.valued = false;
    }
}

void Sums::set(Window &window, int exponent) {
    exponent = std::clamp(exponent, lowest_exponent, 900);
    window.limit = std::ldexp(1.0, exponent);
    window.upper = std::ldexp(1.0, exponent - limb_bits);
    window.lower = std::ldexp(1.0, exponent - 2 * limb_bits);
    window.known = true;
}

void Sums::set_limit(int product, double largest_term) {
    set(windows[product], largest_term > 0 ? std::ilogb(largest_term) + 1 : lowest_exponent);
}

bool Sums::value(int product, const int64_t *limb, bool again, double &sum) {
    Window &window = windows[product];
    // What the lower one has beyond its bits goes to the upper one, so that the result is rounded once or twice.
    const int64_t carry = limb[1] >> limb_bits;
    sum = double(limb[0] + carry) * window.upper + double(limb[1] - (carry << limb_bits)) * window.lower;
    const bool valid = window.known && std::fabs(sum) >= std::ldexp(window.limit, -worst_loss);
    if (!valid && !again)
        return false;
    const int exponent = sum != 0 ? std::ilogb(sum) + 1 : lowest_exponent;
    if (again && sum != 0) // its limit is that of the largest term: terms may be so much larger than the sum
        window.headroom =
            std::clamp(std::ilogb(window.limit) - exponent + headroom / 2, window.headroom, most_headroom);
    // It may fall as fast as it just did: half of that is expected, so that the next one fits if it stops falling too.
    const int fall = window.valued ? std::clamp(exponent - window.last, -2 * headroom, 0) : 0;
    window.last = exponent;
    window.valued = true;
    set(window, exponent + fall / 2 + window.headroom);
    return true;
}

} // namespace fathometer::ocean
