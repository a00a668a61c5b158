#include "transform.hpp"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.hpp"

namespace fathometer::wavelet {

namespace {

// Steps of the lifting scheme and the scale of the low-pass half: table of Daubechies & Sweldens (1998), section 7.7.
constexpr float alpha = -1.586134342059924f, beta = -0.052980118572961f, gamma = 0.882911075530934f,
                delta = 0.443506852043971f, zeta = 1.149604398860241f;
constexpr float root_of_2 = 1.4142135623730951f;

// target[k] += weight (left[k] + right[k])
void lift(float weight, const float *left, const float *right, float *target, int64_t count) {
    for (int64_t k = 0; k < count; ++k)
        target[k] = madd(weight, left[k] + right[k], target[k]);
}

// The same lifting steps both ways: `lift_odd(w)` adds w times their neighbours to the values of odd number,
// `lift_even` to those of even number, `scale` multiplies the two halves.
template <class L> void analyse(const L &lines) {
    lines.lift_odd(alpha);
    lines.lift_even(beta);
    lines.lift_odd(gamma);
    lines.lift_even(delta);
    lines.scale(zeta, 1 / zeta);
}

template <class L> void synthesise(const L &lines) {
    lines.scale(1 / zeta, zeta);
    lines.lift_even(-delta);
    lines.lift_odd(-gamma);
    lines.lift_even(-beta);
    lines.lift_odd(-alpha);
}

void multiply(float *values, int64_t count, float factor) {
    for (int64_t k = 0; k < count; ++k)
        values[k] *= factor;
}

// Lines along x or y side by side, `width` of them, in `low` those of even number, in `high` of odd number.
struct Rows {
    float *low, *high;
    int64_t evens, odds, width;

    void lift_odd(float weight) const {
        for (int64_t i = 0; i < odds; ++i)
            lift(weight, low + i * width, low + std::min(i + 1, evens - 1) * width, high + i * width, width);
    }
    void lift_even(float weight) const {
        for (int64_t i = 0; i < evens; ++i)
            lift(weight, high + std::max<int64_t>(i - 1, 0) * width, high + std::min(i, odds - 1) * width,
                 low + i * width, width);
    }
    void scale(float of_low, float of_high) const {
        multiply(low, evens * width, of_low);
        multiply(high, odds * width, of_high);
    }
};

// One line along z; room for one more value before `high`, and behind both.
struct Line {
    float *low, *high;
    int64_t evens, odds;

    void lift_odd(float weight) const {
        low[evens] = low[evens - 1];
        lift(weight, low, low + 1, high, odds);
    }
    void lift_even(float weight) const {
        high[-1] = high[0];
        high[odds] = high[odds - 1];
        lift(weight, high - 1, high, low, evens);
    }
    void scale(float of_low, float of_high) const {
        multiply(low, evens, of_low);
        multiply(high, odds, of_high);
    }
};

// One halving along an axis, or its inverse, of the corner of m cells in an array with the given strides.
template <bool analysis> void halve(int axis, const Index3 &m, const Index3 &stride, float *values, float *buffer) {
    const int64_t n = m[axis], evens = (n + 1) / 2, odds = n / 2;
    const auto work = [](const auto &lines) { analysis ? analyse(lines) : synthesise(lines); };
    if (axis == 2) {
        const Line line{buffer, buffer + evens + 2, evens, odds};
        for (int64_t x = 0; x < m[0]; ++x)
            for (int64_t y = 0; y < m[1]; ++y) {
                float *row = values + x * stride[0] + y * stride[1];
                for (int64_t i = 0; i < evens; ++i)
                    line.low[i] = row[analysis ? 2 * i : i];
                for (int64_t i = 0; i < odds; ++i)
                    line.high[i] = row[analysis ? 2 * i + 1 : evens + i];
                work(line);
                for (int64_t i = 0; i < evens; ++i)
                    row[analysis ? i : 2 * i] = line.low[i];
                for (int64_t i = 0; i < odds; ++i)
                    row[analysis ? evens + i : 2 * i + 1] = line.high[i];
            }
        return;
    }
    const int64_t width = m[2];
    const Rows rows{buffer, buffer + evens * width, evens, odds, width};
    const auto sorted = [&](int64_t i) { return i % 2 ? evens + i / 2 : i / 2; };
    for (int64_t j = 0; j < m[1 - axis]; ++j) {
        float *first = values + j * stride[1 - axis];
        for (int64_t i = 0; i < n; ++i)
            std::copy_n(first + (analysis ? i : sorted(i)) * stride[axis], width, buffer + sorted(i) * width);
        work(rows);
        for (int64_t i = 0; i < n; ++i)
            std::copy_n(buffer + sorted(i) * width, width, first + (analysis ? sorted(i) : i) * stride[axis]);
    }
}

// All axes that have more than `level` halvings: the values of the level to the coefficients of the next, or back. One
// value alone has no high-pass half, and is scaled as it would be were it continued.
template <bool analysis>
void halvings(const Block &block, int level, const Index3 &stride, float *values, std::vector<float> &buffer) {
    const Index3 m = block.at(level);
    buffer.resize(std::size_t(std::max({m[0], m[1], m[2]}) * m[2] + m[2] + 4));
    for (int k = 0; k < 3; ++k) {
        const int axis = analysis ? 2 - k : k;
        if (block.halvings[axis] <= level)
            continue;
        if (m[axis] > 1)
            halve<analysis>(axis, m, stride, values, buffer.data());
        else
            for (int64_t x = 0; x < m[0]; ++x)
                for (int64_t y = 0; y < m[1]; ++y)
                    multiply(values + x * stride[0] + y * stride[1], m[2], analysis ? root_of_2 : 1 / root_of_2);
    }
}

} // namespace

int Block::levels() const { return int(std::max({halvings[0], halvings[1], halvings[2]})); }

Index3 Block::at(int level) const {
    Index3 m;
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t half = std::min<int64_t>(level, halvings[axis]);
        m[axis] = ((cells[axis] - 1) >> half) + 1;
    }
    return m;
}

int64_t Block::size(int level) const {
    const Index3 m = at(level);
    return m[0] * m[1] * m[2];
}

float Block::scale(int level) const {
    int64_t sum = 0;
    for (const int64_t count : halvings)
        sum += std::min<int64_t>(level, count);
    return std::ldexp(sum % 2 ? root_of_2 : 1.0f, int(sum / 2));
}

void forward(const Block &block, float *values, std::vector<float> &lines) {
    const Index3 stride{block.cells[1] * block.cells[2], block.cells[2], 1};
    for (int level = 0; level < block.levels(); ++level)
        halvings<true>(block, level, stride, values, lines);
}

void inverse(const Block &block, int level, float *coefficients, std::vector<float> &lines) {
    const Index3 m = block.at(level), stride{m[1] * m[2], m[2], 1};
    for (int coarse = block.levels() - 1; coarse >= level; --coarse)
        halvings<false>(block, coarse, stride, coefficients, lines);
}

} // namespace fathometer::wavelet
