// The kernels of time steps, compiled once for each reach R of the stencil (FATHOMETER_RADIUS).
//
// A block of threads has a tile of cells across y and z and goes through some planes x. A thread keeps the 2 R + 1 cells
// of u along x in registers: each plane is loaded once for the derivative along x. Neighbours along y and z come out of
// shared memory, which has room for two planes, so that threads meet once a plane. What a cell needs beside is read from
// memory once: 36 bytes (VTI, float) are moved for a cell, and what tiles share lies in the second-level cache.
//
// The order of all sums is that of the processors' kernels (core/row.hpp, acoustic/row.hpp, acoustic/pml_rows.hpp).
#include "steps.hpp"

namespace fathometer::cuda {

namespace {

constexpr int R = FATHOMETER_RADIUS, S = (R + 1) / 2;

// A tile's cells: V along z for each thread of a warp, a warp for each y.
template <class T> constexpr int numbers = sizeof(T) == 4 ? FATHOMETER_PACK : 1;
template <bool Y> constexpr int rows = Y ? FATHOMETER_ROWS : 1;
constexpr int fewest_planes = 16, most_planes = 64; // that a block goes through

// First derivative between rows n = 0 … 2 S - 1, row(n).
template <class T, class Row> __device__ inline Real<T> first_derivative(const Real<T> *weights, Row row) {
    Real<T> sum = weights[0] * (row(S) - row(S - 1));
#pragma unroll
    for (int m = 0; m < S - 1; ++m)
        sum = madd(weights[m + 1], row(S + m + 1) - row(S - 2 - m), sum);
    return sum;
}

// zeta = decay zeta + gain (curvature + slope), slope = -d^T psi; slope + zeta.
template <int axis, class T>
__device__ inline Real<T> absorb(const View<T> &w, const Layer<T> &layer, int i, int j, int k, Real<T> curvature) {
    const int at[3] = {i, j, k}, cell = at[axis] - layer.cell_lo;
    const int64_t stride = axis == 2 ? 1 : layer.psi_stride[axis];
    // cell - S is the lowest half point that the cell needs; psi begins S before the first cell
    const Real<T> *psi = layer.psi + (axis == 0 ? cell : i) * layer.psi_stride[0] +
                         (axis == 1 ? cell : j) * layer.psi_stride[1] + (axis == 2 ? cell : k);
    Real<T> *zeta = layer.zeta + (axis == 0 ? cell : i) * layer.zeta_stride[0] +
                    (axis == 1 ? cell : j) * layer.zeta_stride[1] + (axis == 2 ? cell : k);
    const Real<T> slope = first_derivative(w.staggered[axis], [&](int n) { return psi[n * stride]; });
    const Real<T> memory = madd(layer.zeta_decay[cell], *zeta, layer.zeta_gain[cell] * (curvature + slope));
    *zeta = memory;
    return slope + memory;
}

// What the layers of an axis add to a cell's derivative goes to `sum`; whether there are any.
template <int axis, class T>
__device__ inline bool absorb_all(const View<T> &w, int i, int j, int k, Real<T> curvature, Real<T> &sum, bool any) {
    const int at = axis == 0 ? i : axis == 1 ? j : k;
    for (int l = 0; l < w.layers; ++l) {
        const Layer<T> &layer = w.layer[l];
        if (layer.axis == axis && at >= layer.cell_lo && at < layer.cell_hi) {
            const Real<T> added = absorb<axis>(w, layer, i, j, k, curvature);
            sum = any ? sum + added : added;
            any = true;
        }
    }
    return any;
}

// The second derivative: weight[0] centre + sum_r weight[r] (behind(r) + before(r)).
template <class T, class Pair>
__device__ inline Real<T> second_derivative(const Real<T> *weights, Real<T> centre, Pair pair) {
    Real<T> sum = weights[0] * centre;
#pragma unroll
    for (int r = 1; r <= R; ++r)
        sum = madd(weights[r], pair(r), sum);
    return sum;
}

template <class Equation, bool Y, class T>
__global__ void __launch_bounds__(warp * rows<Y>) step_cells(const __grid_constant__ View<T> w,
                                                             const __grid_constant__ Box box, int planes) {
    constexpr int V = numbers<T>, TY = rows<Y>, TZ = warp * V;
    constexpr int beside = (R + V - 1) / V * V; // cells on either side of a tile's row
    static_assert(!Y || TY >= R, "a warp loads a row beyond the tile");
    __shared__ Real<T> across[2][Y ? TY + 2 * R : 1][TZ]; // u, with rows beyond the tile
    __shared__ Real<T> along[2][TY][TZ + 2 * beside];     // the field that is differentiated along z

    const int tz = threadIdx.x, ty = threadIdx.y;
    const int k_tile = box.lo[2] / TZ * TZ + int(blockIdx.x) * TZ, k = k_tile + tz * V;
    const int j_tile = box.lo[1] + int(blockIdx.y) * TY, j_own = j_tile + ty;
    const int j = Y ? min(j_own, w.n[1] - 1 + R) : j_own; // rows beyond the grid's are loaded as far as there are halos
    int first = box.lo[0] + int(blockIdx.z) * planes, last = min(first + planes, box.hi[0]);
    const bool mine = j_own < box.hi[1];
    if (w.active.first) { // leave out the planes before the first and behind the last that any row computes
        __shared__ int ends[2];
        if (tz == 0 && ty == 0)
            ends[0] = last, ends[1] = first;
        __syncthreads();
        for (int i = first + tz; mine && i < last; i += warp)
            if (w.active(i, j, w.step)) {
                atomicMin(&ends[0], i);
                atomicMax(&ends[1], i + 1);
            }
        __syncthreads();
        first = ends[0], last = ends[1];
        if (first >= last)
            return;
    }

    const Real<T> *u = w.now[0] + w.at(first, j) + k;
    const Real<T> *g = w.now[Equation::along] + w.at(first, j) + k;
    const int64_t to_model = w.model_at(first, j) + k, to_next = w.at(first, j) + k;
    // Rows beyond the tile that this warp loads.
    const int j_below = min(j_tile - R + ty, w.n[1] - 1 + R), j_above = min(j_tile + TY + ty, w.n[1] - 1 + R);

    Real<T> column[2 * R + 1][V]; // u at planes i - R … i + R
#pragma unroll
    for (int n = 0; n < 2 * R; ++n) {
        const Pack<T, V> pack = load<V>(u + (n - R) * w.stride[0]);
#pragma unroll
        for (int v = 0; v < V; ++v)
            column[n + 1][v] = pack.lane[v];
    }

    for (int i = first; i < last; ++i) {
        const int64_t planes_on = i - first;
        const int64_t at = planes_on * w.stride[0];
        const int side = i & 1;
#pragma unroll
        for (int n = 0; n < 2 * R; ++n)
#pragma unroll
            for (int v = 0; v < V; ++v)
                column[n][v] = column[n + 1][v];
        const Pack<T, V> ahead = load<V>(u + at + R * w.stride[0]);
        const bool computed = mine && w.active(i, j_own, w.step);
        Pack<T, V> here, before[Equation::fields], model[Equation::models];
        if (Equation::along)
            here = load<V>(g + at);
        if (computed) {
#pragma unroll
            for (int f = 0; f < Equation::fields; ++f)
                before[f] = load<V>(w.next[f] + to_next + at);
#pragma unroll
            for (int m = 0; m < Equation::models; ++m)
                model[m] = load<V>(w.model[m] + to_model + planes_on * w.model_stride[0]);
        }
        if constexpr (Y) {
            Pack<T, V> centre;
#pragma unroll
            for (int v = 0; v < V; ++v)
                centre.lane[v] = column[R][v];
            store<V>(&across[side][R + ty][tz * V], centre);
            if (ty < R) {
                const Real<T> *plane = w.now[0] + int64_t(i) * w.stride[0] + k;
                store<V>(&across[side][ty][tz * V], load<V>(plane + j_below * w.stride[1]));
                store<V>(&across[side][R + TY + ty][tz * V], load<V>(plane + j_above * w.stride[1]));
            }
        }
        {
            if (!Equation::along)
#pragma unroll
                for (int v = 0; v < V; ++v)
                    here.lane[v] = column[R][v];
            // Rows of `along` begin so that packs are aligned.
            store<V>(&along[side][ty][beside + tz * V], here);
            if (tz < beside / V) {
                const Real<T> *row = w.now[Equation::along] + int64_t(i) * w.stride[0] + j * w.stride[1] + k_tile;
                store<V>(&along[side][ty][tz * V], load<V>(row - beside + tz * V));
                store<V>(&along[side][ty][beside + TZ + tz * V], load<V>(row + TZ + tz * V));
            }
        }
        __syncthreads();
#pragma unroll
        for (int v = 0; v < V; ++v)
            column[2 * R][v] = ahead.lane[v];
        if (!computed)
            continue;
        const bool in_x = i < w.clear_lo[0] || i >= w.clear_hi[0], in_y = j < w.clear_lo[1] || j >= w.clear_hi[1];
        Pack<T, V> result[Equation::fields];
#pragma unroll
        for (int v = 0; v < V; ++v) {
            const int kv = k + v;
            const bool cell = kv >= box.lo[2] && kv < box.hi[2];
            Real<T> h = second_derivative(w.weights[0], column[R][v],
                                          [&](int r) { return column[R + r][v] + column[R - r][v]; });
            Real<T> sum;
            bool any = false;
            if (in_x && cell)
                any = absorb_all<0>(w, i, j, kv, h, sum, false);
            if constexpr (Y) {
                const int z = tz * V + v, y = R + ty;
                const Real<T> in_row = second_derivative(w.weights[1], column[R][v], [&](int r) {
                    return across[side][y + r][z] + across[side][y - r][z];
                });
                h = h + in_row;
                if (in_y && cell)
                    any = absorb_all<1>(w, i, j, kv, in_row, sum, any);
            }
            if (any)
                h = h + sum;
            const int z = beside + tz * V + v;
            Real<T> l = second_derivative(w.weights[2], here.lane[v],
                                          [&](int r) { return along[side][ty][z + r] + along[side][ty][z - r]; });
            if ((kv < w.clear_lo[2] || kv >= w.clear_hi[2]) && cell) {
                const Real<T> bare = l;
                for (int n = 0; n < w.layers; ++n) {
                    const Layer<T> &layer = w.layer[n];
                    if (layer.axis == 2 && kv >= layer.cell_lo && kv < layer.cell_hi)
                        l = l + absorb<2>(w, layer, i, j, kv, bare);
                }
            }
            Real<T> m[Equation::models], now[Equation::fields], grown[Equation::fields], next[Equation::fields];
#pragma unroll
            for (int f = 0; f < Equation::models; ++f)
                m[f] = model[f].lane[v];
            now[0] = column[R][v];
            if (Equation::along)
                now[Equation::along] = here.lane[v];
#pragma unroll
            for (int f = 0; f < Equation::fields; ++f)
                grown[f] = now[f] - before[f].lane[v];
            if (w.eta_dt[0]) {
                const Real<T> eta = (w.eta_dt[0][i] + w.eta_dt[1][j]) + w.eta_dt[2][min(kv, w.n[2] - 1)];
                Equation::step_damped(m, h, l, now, grown, next, eta);
            } else
                Equation::step(m, h, l, now, grown, next);
#pragma unroll
            for (int f = 0; f < Equation::fields; ++f)
                result[f].lane[v] = next[f];
        }
#pragma unroll
        for (int f = 0; f < Equation::fields; ++f) {
            Real<T> *to = w.next[f] + to_next + at;
            if (k >= box.lo[2] && k + V <= box.hi[2])
                store<V>(to, result[f]);
            else
#pragma unroll
                for (int v = 0; v < V; ++v)
                    if (k + v >= box.lo[2] && k + v < box.hi[2])
                        to[v] = result[f].lane[v];
        }
    }
}

template <int axis, class T>
__global__ void step_half_points(const __grid_constant__ View<T> w, int number, int field, Box box) {
    const int k = box.lo[2] + int(blockIdx.x * blockDim.x + threadIdx.x);
    const int j = box.lo[1] + int(blockIdx.y * blockDim.y + threadIdx.y), i = box.lo[0] + int(blockIdx.z);
    if (k >= box.hi[2] || j >= box.hi[1] || !w.active(axis == 0 ? i - S + 1 : i, axis == 1 ? j - S + 1 : j, w.step))
        return;
    const Layer<T> &layer = w.layer[number];
    const int half = axis == 0 ? i : axis == 1 ? j : k, n = half - layer.half_lo, at = half - layer.cell_lo + S;
    const int64_t stride = axis == 2 ? 1 : w.stride[axis];
    const Real<T> *f = w.now[field] + w.at(i, j) + k;
    Real<T> *psi = layer.psi + (axis == 0 ? at : i) * layer.psi_stride[0] + (axis == 1 ? at : j) * layer.psi_stride[1] +
                   (axis == 2 ? at : k);
    const Real<T> slope = first_derivative(w.staggered[axis], [&](int m) { return f[(m - S + 1) * stride]; });
    *psi = madd(layer.psi_decay[n], *psi, layer.psi_gain[n] * slope);
}

template <class Equation, class T>
void half_points(const View<T> &w, int number, int lo, int hi, cudaStream_t stream) {
    const Layer<T> &layer = w.layer[number];
    Box box{{0, 0, 0}, {w.n[0], w.n[1], w.n[2]}};
    box.lo[layer.axis] = max(lo, layer.half_lo);
    box.hi[layer.axis] = min(hi, layer.half_hi);
    if (box.empty())
        return;
    const int nz = box.hi[2] - box.lo[2], ny = box.hi[1] - box.lo[1];
    const dim3 threads(nz > 64 ? 128 : 32, ny > 1 ? 4 : 1);
    const dim3 blocks(parts_of(nz, threads.x), parts_of(ny, threads.y), box.hi[0] - box.lo[0]);
    const int field = layer.axis == 2 ? Equation::along : 0;
    auto *kernel = layer.axis == 0   ? &step_half_points<0, T>
                   : layer.axis == 1 ? &step_half_points<1, T>
                                     : &step_half_points<2, T>;
    launch(kernel, blocks, threads, stream, w, number, field, box);
}

template <class Equation, bool Y, class T> void cells(const View<T> &w, const Box &box, cudaStream_t stream) {
    constexpr int TZ = warp * numbers<T>, TY = rows<Y>;
    if (box.empty())
        return;
    const int z = parts_of(box.hi[2] - box.lo[2] / TZ * TZ, TZ), y = parts_of(box.hi[1] - box.lo[1], TY);
    const int nx = box.hi[0] - box.lo[0];
    // Long columns load fewer planes twice; as many blocks as fill a card several times are enough.
    const int wanted = parts_of(8 * 132 * 2, int64_t(z) * y);
    const int planes = min(max(int(parts_of(nx, wanted)), fewest_planes), most_planes);
    launch<true>(&step_cells<Equation, Y, T>, dim3(z, y, parts_of(nx, planes)), dim3(warp, TY), stream, w, box, planes);
}

} // namespace

template <int Reach, class T> Steps<T> steps_with_reach(int fields, bool has_y) {
    if (fields == 2)
        return has_y ? Steps<T>{&half_points<Vti, T>, &cells<Vti, true, T>}
                     : Steps<T>{&half_points<Vti, T>, &cells<Vti, false, T>};
    return has_y ? Steps<T>{&half_points<Isotropic, T>, &cells<Isotropic, true, T>}
                 : Steps<T>{&half_points<Isotropic, T>, &cells<Isotropic, false, T>};
}

template Steps<float> steps_with_reach<R, float>(int, bool);
template Steps<double> steps_with_reach<R, double>(int, bool);

} // namespace fathometer::cuda
