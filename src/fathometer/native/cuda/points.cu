#include "points.hpp"

#include <algorithm>
#include <map>

namespace fathometer::cuda {

template <class T>
Points<T>::Points(int points, const int64_t *first, const int32_t *count, const T *weight, const int64_t *column,
                  const int64_t n[3], bool receivers) {
    std::vector<int> firsts(first, first + 3 * int64_t(points)), counts(count, count + 3 * int64_t(points));
    std::vector<int> columns(column, column + points), lines;
    std::vector<int64_t> first_line;
    std::map<std::pair<int, int>, std::vector<int>> touching; // points by row, in their order
    for (int p = 0; p < points; ++p) {
        const int *at = &firsts[3 * p], *cells = &counts[3 * p];
        first_line.push_back(int64_t(lines.size()) / 3);
        for (int i = at[0]; i < at[0] + cells[0]; ++i)
            for (int j = at[1]; j < at[1] + cells[1]; ++j) {
                const bool owned = i >= 0 && i < n[0] && j >= 0 && j < n[1];
                if (owned && !receivers)
                    touching[{i, j}].push_back(p);
                if (receivers)
                    lines.insert(lines.end(), {owned ? p : -1, i, j});
            }
    }
    std::vector<int> rows, starts, ends, all, reach;
    for (const auto &[row, some] : touching) {
        rows.insert(rows.end(), {row.first, row.second});
        starts.push_back(int(all.size()));
        all.insert(all.end(), some.begin(), some.end());
        ends.push_back(int(all.size()));
        int64_t low = n[2], high = 0;
        for (int p : some) {
            low = std::min<int64_t>(low, firsts[3 * p + 2]);
            high = std::max<int64_t>(high, firsts[3 * p + 2] + counts[3 * p + 2]);
        }
        reach.insert(reach.end(), {int(std::max<int64_t>(low, 0)), int(std::min(high, n[2]))});
    }
    std::vector<Real<T>> weights(weight, weight + 3 * max_weights * int64_t(points));
    view = {keep(firsts),     keep(counts), keep(weights),      keep(columns),        keep(rows),
            keep(starts),     keep(ends),   keep(all),          keep(reach),          keep(lines),
            keep(first_line), points,       int(starts.size()), int(lines.size() / 3)};
}

template <class T> template <class V> const V *Points<T>::keep(const std::vector<V> &values) {
    memory.emplace_back(std::max<std::size_t>(values.size(), 1) * sizeof(V));
    memory.back().copy_in(values.data(), values.size() * sizeof(V));
    return static_cast<const V *>(memory.back().data());
}

namespace {

// A block of threads has a row, a thread one of its cells at a time.
template <class Equation, class T>
__global__ void inject_row(const __grid_constant__ View<T> w, const __grid_constant__ PointsView<T> points,
                           const Real<T> *values, Real<T> scale) {
    const int row = blockIdx.x, i = points.row[2 * row], j = points.row[2 * row + 1];
    if (!w.active(i, j, w.step))
        return;
    for (int k = points.reach[2 * row] + int(threadIdx.x); k < points.reach[2 * row + 1]; k += int(blockDim.x)) {
        Real<T> m[Equation::models], value[Equation::fields];
        for (int n = 0; n < Equation::models; ++n)
            m[n] = w.model[n][w.model_at(i, j) + k];
        for (int f = 0; f < Equation::fields; ++f)
            value[f] = w.next[f][w.at(i, j) + k];
        bool any = false;
        for (int e = points.start[row]; e < points.end[row]; ++e) {
            const int p = points.point[e];
            const int *first = points.first + 3 * p, *count = points.count + 3 * p;
            if (k < first[2] || k >= first[2] + count[2])
                continue;
            const Real<T> *wx = points.weight + 3 * max_weights * int64_t(p), *wy = wx + max_weights,
                          *wz = wy + max_weights;
            Real<T> f = ((wx[i - first[0]] * wy[j - first[1]]) * wz[k - first[2]]) * (values[points.column[p]] * scale);
            if (w.eta_dt[0])
                f = f / (Real<T>(1) + ((w.eta_dt[0][i] + w.eta_dt[1][j]) + w.eta_dt[2][k]));
            Equation::inject(m, f, value);
            any = true;
        }
        for (int f = 0; any && f < Equation::fields; ++f)
            w.next[f][w.at(i, j) + k] = value[f];
    }
}

template <class Equation, class T>
__global__ void sample_lines(const __grid_constant__ View<T> w, const __grid_constant__ PointsView<T> points,
                             Real<T> *lines) {
    const int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= points.lines)
        return;
    const int p = points.line[3 * line], i = points.line[3 * line + 1], j = points.line[3 * line + 2];
    if (p < 0) // another rank's row
        return;
    const Real<T> *const now[2] = {w.now[0] + w.at(i, j), w.now[Equation::fields - 1] + w.at(i, j)};
    const Real<T> *wz = points.weight + (3 * int64_t(p) + 2) * max_weights;
    Real<T> sum(0);
    for (int c = 0; c < points.count[3 * p + 2]; ++c)
        sum = sum + wz[c] * Equation::template pressure<T>(now, points.first[3 * p + 2] + c);
    lines[line] = sum;
}

template <class T>
__global__ void add_up_lines(const __grid_constant__ PointsView<T> points, const Real<T> *lines, Real<T> *recorded,
                             int columns) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= points.points || points.column[p] < 0)
        return;
    const int *count = points.count + 3 * p;
    const Real<T> *wx = points.weight + 3 * max_weights * int64_t(p), *wy = wx + max_weights,
                  *line = lines + int64_t(blockIdx.y) * points.lines + points.first_line[p];
    Real<T> sum(0);
    for (int a = 0; a < count[0]; ++a) {
        Real<T> plane(0);
        for (int b = 0; b < count[1]; ++b)
            plane = plane + wy[b] * *line++;
        sum = sum + wx[a] * plane;
    }
    recorded[int64_t(blockIdx.y) * columns + points.column[p]] = sum;
}

} // namespace

template <class T>
void inject(const View<T> &w, int fields, const PointsView<T> &points, const Real<T> *values, T scale,
            cudaStream_t stream) {
    auto *kernel = fields == 2 ? &inject_row<Vti, T> : &inject_row<Isotropic, T>;
    launch(kernel, dim3(points.rows), dim3(warp), stream, w, points, values, Real<T>(scale));
}

template <class T>
void sample(const View<T> &w, int fields, const PointsView<T> &points, Real<T> *lines, cudaStream_t stream) {
    auto *kernel = fields == 2 ? &sample_lines<Vti, T> : &sample_lines<Isotropic, T>;
    launch(kernel, dim3(parts_of(points.lines, 128)), dim3(128), stream, w, points, lines);
}

template <class T>
void add_up(const PointsView<T> &points, const Real<T> *lines, Real<T> *recorded, int columns, int steps,
            cudaStream_t stream) {
    launch(&add_up_lines<T>, dim3(parts_of(points.points, 128), steps), dim3(128), stream, points, lines, recorded,
           columns);
}

template class Points<float>;
template class Points<double>;
template void inject(const View<float> &, int, const PointsView<float> &, const Real<float> *, float, cudaStream_t);
template void inject(const View<double> &, int, const PointsView<double> &, const Real<double> *, double, cudaStream_t);
template void sample(const View<float> &, int, const PointsView<float> &, Real<float> *, cudaStream_t);
template void sample(const View<double> &, int, const PointsView<double> &, Real<double> *, cudaStream_t);
template void add_up(const PointsView<float> &, const Real<float> *, Real<float> *, int, int, cudaStream_t);
template void add_up(const PointsView<double> &, const Real<double> *, Real<double> *, int, int, cudaStream_t);

} // namespace fathometer::cuda
