// The kernels of time steps, compiled once for each reach R of the stencil (FATHOMETER_RADIUS).
//
// A block of threads has a tile of cells across y and z and goes through some planes x. A thread keeps the 2 R + 1 cells
// of u along x in registers: each plane is loaded once for the derivative along x. Neighbours along y and z come out of
// shared memory, which has room for two planes: one is filled, beside the threads, while they work on the other, and
// they meet once a plane. What a cell needs beside is read from memory once: 36 bytes (VTI, float) are moved for a cell,
// and what tiles share lies in the second-level cache.
//
// Cells inside, far from all sides that absorb, have kernels of their own: those of layers are many times as long, and a
// multiprocessor's cache of instructions is small.
//
// The order of all sums is that of the processors' kernels (core/row.hpp, acoustic/row.hpp, acoustic/pml_rows.hpp).
#include "steps.hpp"

namespace fathometer::cuda {

namespace {

constexpr int R = FATHOMETER_RADIUS, S = (R + 1) / 2;

enum class Sides { none, sponge, layers };

// A tile's cells: V along z for each thread of a warp, a warp for each y.
template <class T, Sides sides>
constexpr int numbers = sides == Sides::layers ? 1 : sizeof(T) == 4 ? FATHOMETER_PACK : FATHOMETER_PACK / 2;
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

template <int V, class Work> __device__ inline void for_lanes(Work work) {
#pragma unroll
    for (int v = 0; v < V; ++v)
        work(v);
}

// Second derivatives: weight[0] centre + sum_r weight[r] pair(r), the sum of the cells behind and before.
template <int V, class T, class Pair>
__device__ inline void derive(const Real<T> *weights, const Pack<T, V> &centre, Pack<T, V> &sum, Pair pair) {
    for_lanes<V>([&](int v) { sum.lane[v] = weights[0] * centre.lane[v]; });
#pragma unroll
    for (int r = 1; r <= R; ++r) {
        Pack<T, V> both;
        pair(r, both);
        for_lanes<V>([&](int v) { sum.lane[v] = madd(weights[r], both.lane[v], sum.lane[v]); });
    }
}

// Planes of shared memory: u with rows beyond the tile, and the field that is differentiated along z with cells beyond.
template <class T, bool Y, int V> struct Tile {
    static constexpr int TZ = warp * V, TY = rows<Y>;
    static constexpr int beside = (R + V - 1) / V * V; // cells on either side of a row
    static constexpr int width = TZ + 2 * beside;
    Real<T> across[Y ? TY + 2 * R : 1][TZ], along[TY][width];
};

template <class Equation, bool Y, Sides sides, class T>
__global__ void __launch_bounds__(warp * rows<Y>) step_cells(const __grid_constant__ View<T> w,
                                                             const __grid_constant__ Box box, int planes) {
    constexpr int V = numbers<T, sides>, fields = Equation::fields;
    using Plane = Tile<T, Y, V>;
    constexpr int TY = Plane::TY, TZ = Plane::TZ, beside = Plane::beside;
    static_assert(!Y || TY >= R, "a warp loads a row on either side of the tile");
    __shared__ Plane plane[2];

    const int tz = threadIdx.x, ty = threadIdx.y;
    const int k_tile = box.lo[2] / TZ * TZ + int(blockIdx.x) * TZ, k = k_tile + tz * V;
    const int j_tile = box.lo[1] + int(blockIdx.y) * TY, j_own = j_tile + ty;
    const int highest = w.n[1] - 1 + R;            // of the rows that there are, halos included
    const int j = Y ? min(j_own, highest) : j_own; // rows of a tile beyond the box are loaded for their neighbours
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

    // Places in a plane, which are the same in all of them.
    const int in_field = j * int(w.stride[1]) + k, in_model = j * int(w.model_stride[1]) + k;
    const int below = min(j_tile - R + ty, highest) * int(w.stride[1]) + k;
    const int above = min(j_tile + TY + ty, highest) * int(w.stride[1]) + k;
    const int left = j * int(w.stride[1]) + k_tile - beside + tz * V, right = left + beside + TZ;

    // What others have computed of plane i, on its way into shared memory.
    auto fetch = [&](int i) {
        Plane &to = plane[i & 1];
        const Real<T> *u = w.now[0] + int64_t(i) * w.stride[0], *g = w.now[Equation::along] + int64_t(i) * w.stride[0];
        if (Y && ty < R) {
            copy_beside<V>(&to.across[ty][tz * V], u + below);
            copy_beside<V>(&to.across[R + TY + ty][tz * V], u + above);
        }
        if (Equation::along)
            copy_beside<V>(&to.along[ty][beside + tz * V], g + in_field);
        if (tz < beside / V) {
            copy_beside<V>(&to.along[ty][tz * V], g + left);
            copy_beside<V>(&to.along[ty][beside + TZ + tz * V], g + right);
        }
    };

    Pack<T, V> column[2 * R + 1]; // u at planes i - R … i + R
#pragma unroll
    for (int n = 1; n <= 2 * R; ++n)
        column[n] = load<V>(w.now[0] + int64_t(first + n - 1 - R) * w.stride[0] + in_field);
    Pack<T, V> ahead = load<V>(w.now[0] + int64_t(first + R) * w.stride[0] + in_field);
    fetch(first);

    for (int i = first; i < last; ++i) {
        Plane &here = plane[i & 1];
#pragma unroll
        for (int n = 0; n < 2 * R; ++n)
            column[n] = column[n + 1];
        column[2 * R] = ahead;
        if constexpr (Y)
            store<V>(&here.across[R + ty][tz * V], column[R]);
        if (!Equation::along)
            store<V>(&here.along[ty][beside + tz * V], column[R]);
        await_copies();
        __syncthreads();
        if (i + 1 < last) {
            fetch(i + 1);
            ahead = load<V>(w.now[0] + int64_t(i + 1 + R) * w.stride[0] + in_field);
        }
        if (!mine || !w.active(i, j, w.step))
            continue;
        Pack<T, V> before[fields], model[Equation::models];
#pragma unroll
        for (int f = 0; f < fields; ++f)
            before[f] = load<V>(w.next[f] + int64_t(i) * w.stride[0] + in_field);
#pragma unroll
        for (int m = 0; m < Equation::models; ++m)
            model[m] = load<V>(w.model[m] + int64_t(i) * w.model_stride[0] + in_model);

        Pack<T, V> h, in_row, l; // derivatives along x, y, z
        derive<V>(w.weights[0], column[R], h, [&](int r, Pack<T, V> &sum) {
            for_lanes<V>([&](int v) { sum.lane[v] = column[R + r].lane[v] + column[R - r].lane[v]; });
        });
        if constexpr (Y)
            derive<V>(w.weights[1], column[R], in_row, [&](int r, Pack<T, V> &sum) {
                const Pack<T, V> high = load<V>(&here.across[R + ty + r][tz * V]),
                                 low = load<V>(&here.across[R + ty - r][tz * V]);
                for_lanes<V>([&](int v) { sum.lane[v] = high.lane[v] + low.lane[v]; });
            });
        Real<T> window[V + 2 * beside]; // of the row along z
#pragma unroll
        for (int n = 0; n < V + 2 * beside; n += V) {
            const Pack<T, V> pack = load<V>(&here.along[ty][tz * V + n]);
            for_lanes<V>([&](int v) { window[n + v] = pack.lane[v]; });
        }
        Pack<T, V> centre;
        for_lanes<V>([&](int v) { centre.lane[v] = window[beside + v]; });
        derive<V>(w.weights[2], centre, l, [&](int r, Pack<T, V> &sum) {
            for_lanes<V>([&](int v) { sum.lane[v] = window[beside + v + r] + window[beside + v - r]; });
        });

        Pack<T, V> result[fields];
        for_lanes<V>([&](int v) {
            const int kv = k + v;
            if constexpr (sides == Sides::layers) {
                Real<T> sum(0);
                bool any = false;
                const bool cell = kv >= box.lo[2] && kv < box.hi[2];
                if (cell && (i < w.clear_lo[0] || i >= w.clear_hi[0]))
                    any = absorb_all<0>(w, i, j, kv, h.lane[v], sum, any);
                if constexpr (Y) {
                    h.lane[v] = h.lane[v] + in_row.lane[v];
                    if (cell && (j < w.clear_lo[1] || j >= w.clear_hi[1]))
                        any = absorb_all<1>(w, i, j, kv, in_row.lane[v], sum, any);
                }
                if (any)
                    h.lane[v] = h.lane[v] + sum;
                if (cell && (kv < w.clear_lo[2] || kv >= w.clear_hi[2])) {
                    const Real<T> bare = l.lane[v];
                    for (int n = 0; n < w.layers; ++n) {
                        const Layer<T> &layer = w.layer[n];
                        if (layer.axis == 2 && kv >= layer.cell_lo && kv < layer.cell_hi)
                            l.lane[v] = l.lane[v] + absorb<2>(w, layer, i, j, kv, bare);
                    }
                }
            } else if constexpr (Y)
                h.lane[v] = h.lane[v] + in_row.lane[v];
            Real<T> m[Equation::models], now[fields], grown[fields], next[fields];
#pragma unroll
            for (int n = 0; n < Equation::models; ++n)
                m[n] = model[n].lane[v];
            now[0] = column[R].lane[v];
            if constexpr (Equation::along == 1)
                now[1] = centre.lane[v];
#pragma unroll
            for (int f = 0; f < fields; ++f)
                grown[f] = now[f] - before[f].lane[v];
            if constexpr (sides == Sides::sponge) {
                const Real<T> eta = (w.eta_dt[0][i] + w.eta_dt[1][j]) + w.eta_dt[2][min(kv, w.n[2] - 1)];
                Equation::step_damped(m, h.lane[v], l.lane[v], now, grown, next, eta);
            } else
                Equation::step(m, h.lane[v], l.lane[v], now, grown, next);
#pragma unroll
            for (int f = 0; f < fields; ++f)
                result[f].lane[v] = next[f];
        });
#pragma unroll
        for (int f = 0; f < fields; ++f) {
            Real<T> *to = w.next[f] + int64_t(i) * w.stride[0] + in_field;
            if (k >= box.lo[2] && k + V <= box.hi[2])
                store<V>(to, result[f]);
            else
                for_lanes<V>([&](int v) {
                    if (k + v >= box.lo[2] && k + v < box.hi[2])
                        to[v] = result[f].lane[v];
                });
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

template <class Equation, bool Y, Sides sides, class T>
void cells_of(const View<T> &w, const Box &box, cudaStream_t stream) {
    constexpr int TZ = warp * numbers<T, sides>, TY = rows<Y>;
    if (box.empty())
        return;
    const int z = parts_of(box.hi[2] - box.lo[2] / TZ * TZ, TZ), y = parts_of(box.hi[1] - box.lo[1], TY);
    const int nx = box.hi[0] - box.lo[0];
    // Long columns load fewer planes twice; as many blocks as fill a card several times are enough.
    const int wanted = parts_of(8 * 132 * 2, int64_t(z) * y);
    const int planes = min(max(int(parts_of(nx, wanted)), fewest_planes), most_planes);
    launch<true>(&step_cells<Equation, Y, sides, T>, dim3(z, y, parts_of(nx, planes)), dim3(warp, TY), stream, w, box,
                 planes);
}

template <class Equation, bool Y, class T> void cells(const View<T> &w, const Box &box, cudaStream_t stream) {
    if (w.eta_dt[0])
        return cells_of<Equation, Y, Sides::sponge>(w, box, stream);
    Box inside = box, outer = box;
    for (int axis = 0; axis < 3; ++axis) { // layers at the ends of x, of y, of z
        inside.lo[axis] = min(max(box.lo[axis], w.clear_lo[axis]), box.hi[axis]);
        inside.hi[axis] = max(min(box.hi[axis], w.clear_hi[axis]), inside.lo[axis]);
        Box low = outer, high = outer;
        low.hi[axis] = outer.lo[axis] = inside.lo[axis];
        high.lo[axis] = outer.hi[axis] = inside.hi[axis];
        cells_of<Equation, Y, Sides::layers>(w, low, stream);
        cells_of<Equation, Y, Sides::layers>(w, high, stream);
    }
    cells_of<Equation, Y, Sides::none>(w, inside, stream);
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
