// Which rows are computed in which steps: the others are left as they are (docs/theory.md, "Only what can matter").
#pragma once

#include "wavefield.hpp"

namespace fathometer {

// The rows of one step; `first` null: all.
struct ActiveRows {
    const int32_t *first, *last;
    int64_t stride, step;

    bool operator()(int64_t i, int64_t j) const {
        const int64_t row = i * stride + j;
        return !first || (first[row] <= step && step < last[row]);
    }

    // Those on which half points depend: half point h of an axis is advanced in the steps of the row h - p + 1, which
    // advances it where rows do (region.hpp). Whoever advances it asks this, so that it is the same for all of them.
    bool half_point(int axis, int64_t i, int64_t j, int64_t p) const {
        return (*this)(axis == 0 ? i - p + 1 : i, axis == 1 ? j - p + 1 : j);
    }
};

// By row the steps first <= n < last of a loop. Both arrays hold the owned rows and, in front of them, `margin` more
// rows of x and y, whose half points this rank advances as well.
struct Active {
    static constexpr int64_t margin = max_radius;

    const int32_t *first = nullptr, *last = nullptr; // of owned row (0, 0)
    int64_t stride = 0;                              // of x
    int64_t start = 0;                               // the job's first step, counted from the loop's

    ActiveRows rows(int64_t n) const { return {first, last, stride, start + n}; }
};

} // namespace fathometer
