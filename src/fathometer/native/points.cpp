// Injection and sampling are each other's transpose: the same weights, M on the side of the injection.
// The order of every sum is fixed by the order of the points and of the cells, never by threads, tiles or ranks.
#include "points.hpp"

#include <algorithm>

namespace fathometer {

template <class T> void Points<T>::sort_into_rows(const int64_t (&n)[3], bool receivers) {
    // The rows [lo, hi) of a point on an axis.
    auto rows = [&](int64_t p, int axis, int64_t &lo, int64_t &hi) {
        const int64_t begin = first[3 * p + axis], cells = count[3 * p + axis];
        if (receivers) {
            lo = std::clamp<int64_t>(begin + cells / 2, 0, n[axis] - 1);
            hi = lo + 1;
            reach = std::max({reach, lo - begin, begin + cells - 1 - lo});
        } else {
            lo = std::clamp<int64_t>(begin, 0, n[axis]);
            hi = std::clamp<int64_t>(begin + cells, lo, n[axis]);
        }
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
    if (receivers)
        for (int64_t p = 0; p < size(); ++p) {
            int64_t k, end;
            rows(p, 2, k, end);
            anchor.push_back(int32_t(k));
        }
}

template <class T>
void inject(const Wavefield<T> &w, const Points<T> &points, const T *values, T scale, int64_t i, int64_t j, int64_t k0,
            int64_t k1) {
    const int64_t cell = w.at(i, j), row = w.model_at(i, j);
    points.in_row(i, j, [&](int64_t p) {
        const int64_t *first = &points.first[3 * p];
        const int32_t *count = &points.count[3 * p];
        const T *wx = &points.weight[3 * max_weights * p], *wy = wx + max_weights, *wz = wy + max_weights;
        const T value = values[points.column[p]] * scale, weight_xy = wx[i - first[0]] * wy[j - first[1]];
        const int64_t end = std::min(first[2] + count[2], k1);
        for (int64_t k = std::max(first[2], k0); k < end; ++k) {
            T f = weight_xy * wz[k - first[2]] * value;
            if (w.damping[0])
                f /= 1 + (w.damping[0][i] + w.damping[1][j] + w.damping[2][k]);
            if (w.fields == 2) {
                f *= T(0.5);
                w.next(0)[cell + k] += (w.model[0][row + k] + w.model[1][row + k]) * f;
                w.next(1)[cell + k] += (w.model[1][row + k] + w.model[2][row + k]) * f;
            } else {
                w.next(0)[cell + k] += w.model[0][row + k] * f;
            }
        }
    });
}

template <class T>
void sample(const Wavefield<T> &w, const Points<T> &points, T *values, int64_t i, int64_t j, int64_t k0, int64_t k1) {
    points.in_row(i, j, [&](int64_t p) {
        if (points.anchor[p] < k0 || points.anchor[p] >= k1)
            return;
        const int64_t *first = &points.first[3 * p];
        const int32_t *count = &points.count[3 * p];
        const T *wx = &points.weight[3 * max_weights * p], *wy = wx + max_weights, *wz = wy + max_weights;
        T sum = 0;
        for (int a = 0; a < count[0]; ++a) {
            T plane = 0;
            for (int b = 0; b < count[1]; ++b) {
                const int64_t cell = w.at(first[0] + a, first[1] + b) + first[2];
                T line = 0;
                for (int c = 0; c < count[2]; ++c) {
                    const T pressure =
                        w.fields == 2 ? T(0.5) * (w.now(0)[cell + c] + w.now(1)[cell + c]) : w.now(0)[cell + c];
                    line += wz[c] * pressure;
                }
                plane += wy[b] * line;
            }
            sum += wx[a] * plane;
        }
        values[points.column[p]] = sum;
    });
}

template struct Points<float>;
template struct Points<double>;
template void inject<float>(const Wavefield<float> &, const Points<float> &, const float *, float, int64_t, int64_t,
                            int64_t, int64_t);
template void inject<double>(const Wavefield<double> &, const Points<double> &, const double *, double, int64_t,
                             int64_t, int64_t, int64_t);
template void sample<float>(const Wavefield<float> &, const Points<float> &, float *, int64_t, int64_t, int64_t,
                            int64_t);
template void sample<double>(const Wavefield<double> &, const Points<double> &, double *, int64_t, int64_t, int64_t,
                             int64_t);

} // namespace fathometer
