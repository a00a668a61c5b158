#include "points.hpp"

#include <algorithm>

namespace fathometer {

template <class T> void Points<T>::sort_into_rows(const int64_t (&n)[3], bool receivers) {
    // The rows [lo, hi) of a point on an axis.
    auto rows = [&](int64_t p, int axis, int64_t &lo, int64_t &hi) {
        const int64_t begin = first[3 * p + axis], cells = count[3 * p + axis];
        lo = std::clamp<int64_t>(begin, 0, n[axis]);
        hi = std::clamp<int64_t>(begin + cells, lo, n[axis]);
    };
    auto each = [&](auto f) {
        for (int64_t p = 0; p < size(); ++p) {
            int64_t i0, i1, j0, j1;
            rows(p, 0, i0, i1);
            rows(p, 1, j0, j1);
            for (int64_t i = i0; i < i1; ++i)
                for (int64_t j = j0; j < j1; ++j)
                    f(p, i * rows_y + j);
        }
    };
    rows_y = n[1];
    start.assign(n[0] * n[1] + 1, 0);
    each([&](int64_t, int64_t row) { ++start[row + 1]; });
    for (std::size_t row = 1; row < start.size(); ++row)
        start[row] += start[row - 1];
    point.resize(start.back());
    std::vector<int64_t> filled(start.begin(), start.end() - 1);
    each([&](int64_t p, int64_t row) { point[filled[row]++] = int32_t(p); });
    if (!receivers)
        return;
    line.assign(1, 0);
    for (int64_t p = 0; p < size(); ++p) {
        for (int axis = 0; axis < 3; ++axis) {
            const int64_t begin = first[3 * p + axis], cells = count[3 * p + axis];
            const int64_t at = std::clamp<int64_t>(begin + cells / 2, 0, n[axis] - 1);
            (axis < 2 ? farthest : reach) = std::max({axis < 2 ? farthest : reach, at - begin, begin + cells - 1 - at});
            if (axis == 2)
                anchor.push_back(int32_t(at));
        }
        line.push_back(line.back() + int64_t(count[3 * p]) * count[3 * p + 1]);
    }
}

template struct Points<float>;
template struct Points<double>;

} // namespace fathometer
