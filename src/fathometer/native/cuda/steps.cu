// The kernels of time steps, compiled once for each reach R of the stencil (FATHOMETER_RADIUS).
//
// A block of threads has a tile of cells across y and z and goes through some planes x. A thread keeps the 2 R + 1
// cells of u along x in registers: each plane is loaded once for the derivative along x. Neighbours along y and z come
// out of shared memory, which has room for two planes: one is filled, beside the threads, while they work on the other,
// and they meet once a plane. What a cell needs beside is read from memory once: 36 bytes (VTI, float) are moved for a
// cell, and what tiles share lies in the second-level cache.
//
// Cells inside, far from all sides that absorb, have kernels of their own: those of layers are many times as long, and
// a multiprocessor's cache of instructions is small.
//
// The order of all sums is that of the processors' kernels (core/row.hpp, acoustic/row.hpp, acoustic/pml_rows.hpp).
#include "steps.hpp"

namespace fathometer::cuda {

namespace {

constexpr int R = FATHOMETER_RADIUS, S = (R + 1) / 2;

enum class Sides { none, sponge, layers };

// A tile's cells: V along z for each thread of a warp, a warp for each y. Of what was measured on an H200, 1, 2 and 4
// by 8 and 16, this is the fastest for all orders but 16, where 4 by 8 is as fast.
template <class T, Sides sides> constexpr int numbers = sides == Sides::layers || sizeof(T) == 8 ? 1 : 2;
template <bool Y> constexpr int rows = Y ? 8 : 1;
constexpr int fewest_planes = 16, most_planes = 64; // that a block goes through
constexpr int plenty = 8 * 132 * 2;                 // blocks: a card has about so many at a time, eight times over

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

// Calls add(what a layer adds to the derivative) for the layers of an axis that cover a cell.
template <int axis, class T, class Add>
__device__ inline void absorb_all(const View<T> &w, int i, int j, int k, Real<T> curvature, Add add) {
    const int at = axis == 0 ? i : axis == 1 ? j : k;
    if (at < w.clear_lo[axis])
        add(absorb<axis>(w, w.layer[w.low[axis]], i, j, k, curvature));
    if (at >= w.clear_hi[axis])
        add(absorb<axis>(w, w.layer[w.high[axis]], i, j, k, curvature));
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

// The tiles of a box.
template <int TY, int TZ> struct Tiles {
    int x, y, z;

    __host__ __device__ Tiles(const Box &box, int planes)
        : x((box.hi[0] - box.lo[0] + planes - 1) / planes), y((box.hi[1] - box.lo[1] + TY - 1) / TY),
          z((box.hi[2] - box.lo[2] / TZ * TZ + TZ - 1) / TZ) {}
    int count() const { return x * y * z; }
};

// The tile and planes of one block of threads; plane: in shared memory.
template <class Equation, bool Y, Sides sides, class T>
__device__ __forceinline__ void step_tile(const View<T> &w, const Boxes &boxes, int block, int planes,
                                          Tile<T, Y, numbers<T, sides>> *plane) {
    constexpr int V = numbers<T, sides>, fields = Equation::fields;
    using Plane = Tile<T, Y, V>;
    constexpr int TY = Plane::TY, TZ = Plane::TZ, beside = Plane::beside;
    static_assert(!Y || TY >= R, "a warp loads a row on either side of the tile");

    const int number = boxes.of(block), place = block - boxes.start[number];
    const Box &box = boxes.box[number];
    const Tiles<TY, TZ> tiles(box, planes);
    const int tz = threadIdx.x, ty = threadIdx.y;
    const int k_tile = box.lo[2] / TZ * TZ + place % tiles.z * TZ, k = k_tile + tz * V;
    const int j_tile = box.lo[1] + place / tiles.z % tiles.y * TY, j_own = j_tile + ty;
    const int highest = w.n[1] - 1 + R;            // of the rows that there are, halos included
    const int j = Y ? min(j_own, highest) : j_own; // rows of a tile beyond the box are loaded for their neighbours
    int first = box.lo[0] + place / (tiles.z * tiles.y) * planes, last = min(first + planes, box.hi[0]);
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
                const bool cell = kv >= box.lo[2] && kv < box.hi[2];
                Real<T> sum(0);
                bool any = false;
                auto add = [&](Real<T> added) {
                    sum = any ? sum + added : added;
                    any = true;
                };
                if (cell)
                    absorb_all<0>(w, i, j, kv, h.lane[v], add);
                if constexpr (Y) {
                    h.lane[v] = h.lane[v] + in_row.lane[v];
                    if (cell)
                        absorb_all<1>(w, i, j, kv, in_row.lane[v], add);
                }
                if (any)
                    h.lane[v] = h.lane[v] + sum;
                if (cell)
                    absorb_all<2>(w, i, j, kv, Real<T>(l.lane[v]),
                                  [&](Real<T> added) { l.lane[v] = l.lane[v] + added; });
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

constexpr int half_threads = 128, half_points_of_a_block = 2048;

// Rows along z of a layer's half points that a block of threads advances.
__host__ __device__ inline int half_rows(const Box &box) {
    return max(1, half_points_of_a_block / (box.hi[2] - box.lo[2]));
}

template <int axis, class T>
__device__ inline void step_half_point(const View<T> &w, const Layer<T> &layer, const Real<T> *now, int i, int j,
                                       int k) {
    if (!w.active(axis == 0 ? i - S + 1 : i, axis == 1 ? j - S + 1 : j, w.step))
        return;
    const int half = axis == 0 ? i : axis == 1 ? j : k, n = half - layer.half_lo, at = half - layer.cell_lo + S;
    const int64_t stride = axis == 2 ? 1 : w.stride[axis];
    const Real<T> *f = now + w.at(i, j) + k;
    Real<T> *psi = layer.psi + (axis == 0 ? at : i) * layer.psi_stride[0] + (axis == 1 ? at : j) * layer.psi_stride[1] +
                   (axis == 2 ? at : k);
    const Real<T> slope = first_derivative(w.staggered[axis], [&](int m) { return f[(m - S + 1) * stride]; });
    *psi = madd(layer.psi_decay[n], *psi, layer.psi_gain[n] * slope);
}

// A box a layer; a block of threads has some rows of it, which are short along z in layers of z.
template <class T>
__global__ void step_half_points(const __grid_constant__ View<T> w, const __grid_constant__ Boxes boxes, int along) {
    const int number = boxes.of(blockIdx.x), place = int(blockIdx.x) - boxes.start[number];
    const Box &box = boxes.box[number];
    const Layer<T> &layer = w.layer[number];
    const int nz = box.hi[2] - box.lo[2], ny = box.hi[1] - box.lo[1];
    const int first = place * half_rows(box), rows = min(half_rows(box), (box.hi[0] - box.lo[0]) * ny - first);
    const Real<T> *now = w.now[layer.axis == 2 ? along : 0];
    for (int n = threadIdx.x; n < rows * nz; n += half_threads) {
        const int row = first + n / nz, k = box.lo[2] + n % nz, j = box.lo[1] + row % ny, i = box.lo[0] + row / ny;
        if (layer.axis == 0)
            step_half_point<0>(w, layer, now, i, j, k);
        else if (layer.axis == 1)
            step_half_point<1>(w, layer, now, i, j, k);
        else
            step_half_point<2>(w, layer, now, i, j, k);
    }
}

template <class Equation, class T>
void half_points(const View<T> &w, const int (&lo)[3], const int (&hi)[3], cudaStream_t stream) {
    Boxes boxes;
    for (int number = 0; number < w.layers; ++number) { // all of them: a box's number is the layer's
        const Layer<T> &layer = w.layer[number];
        const int axis = layer.axis;
        Box box{{0, 0, 0}, {w.n[0], w.n[1], w.n[2]}};
        box.lo[axis] = max(lo[axis], layer.half_lo);
        box.hi[axis] = max(min(hi[axis], layer.half_hi), box.lo[axis]);
        boxes.box[number] = box;
        boxes.start[number] = boxes.blocks;
        boxes.blocks +=
            box.empty() ? 0 : int(parts_of((box.hi[0] - box.lo[0]) * int64_t(box.hi[1] - box.lo[1]), half_rows(box)));
        boxes.count = number + 1;
    }
    launch(&step_half_points<T>, dim3(boxes.blocks), dim3(half_threads), stream, w, boxes, Equation::along);
}

template <class Equation, bool Y, class T>
__global__ void __launch_bounds__(warp *rows<Y>)
    step_damped_cells(const __grid_constant__ View<T> w, const __grid_constant__ Boxes boxes, int planes) {
    __shared__ Tile<T, Y, numbers<T, Sides::sponge>> plane[2];
    step_tile<Equation, Y, Sides::sponge>(w, boxes, int(blockIdx.x), planes, plane);
}

// Blocks of cells in layers come between those inside, evenly: they wait for their instructions and for many small
// loads, while the others wait for memory.
template <class Equation, bool Y, class T>
__global__ void __launch_bounds__(warp *rows<Y>)
    step_cells(const __grid_constant__ View<T> w, const __grid_constant__ Boxes inside,
               const __grid_constant__ Boxes layers, int planes) {
    __shared__ union {
        char inside[2 * sizeof(Tile<T, Y, numbers<T, Sides::none>>)];
        char layers[2 * sizeof(Tile<T, Y, numbers<T, Sides::layers>>)];
        float4 aligned;
    } room;
    const int64_t block = blockIdx.x, all = inside.blocks + layers.blocks;
    const int before = int(block * layers.blocks / all);
    if (int((block + 1) * layers.blocks / all) > before)
        step_tile<Equation, Y, Sides::layers>(w, layers, before, planes,
                                              reinterpret_cast<Tile<T, Y, numbers<T, Sides::layers>> *>(room.layers));
    else
        step_tile<Equation, Y, Sides::none>(w, inside, int(block) - before, planes,
                                            reinterpret_cast<Tile<T, Y, numbers<T, Sides::none>> *>(room.inside));
}

// The boxes, of whose tiles a block of threads goes through so many planes.
template <bool Y, Sides sides, class T> Boxes tiled(const std::vector<Box> &some, int planes) {
    Boxes boxes;
    for (const Box &box : some)
        boxes.add(box, box.empty() ? 0 : Tiles<rows<Y>, warp * numbers<T, sides>>(box, planes).count());
    return boxes;
}

template <class Equation, bool Y, class T>
void cells(const View<T> &w, const std::vector<Box> &boxes, cudaStream_t stream) {
    std::vector<Box> inside, in_layers;
    for (Box outer : boxes) {
        for (int axis = 0; axis < 3; ++axis) { // layers at the ends of x, of y, of z
            Box low = outer, high = outer;
            low.hi[axis] = min(max(outer.lo[axis], w.clear_lo[axis]), outer.hi[axis]);
            high.lo[axis] = max(min(outer.hi[axis], w.clear_hi[axis]), low.hi[axis]);
            outer.lo[axis] = low.hi[axis], outer.hi[axis] = high.lo[axis];
            in_layers.push_back(low);
            in_layers.push_back(high);
        }
        inside.push_back(outer);
    }
    // Long columns load fewer planes twice; as many blocks as fill a card several times are enough.
    const dim3 threads(warp, rows<Y>);
    for (int planes = most_planes;; planes /= 2) {
        if (w.eta_dt[0]) {
            const Boxes all = tiled<Y, Sides::sponge, T>(inside, planes);
            if (all.blocks >= plenty || planes <= fewest_planes)
                return launch<true>(&step_damped_cells<Equation, Y, T>, dim3(all.blocks), threads, stream, w, all,
                                    planes);
        } else {
            const Boxes clear = tiled<Y, Sides::none, T>(inside, planes);
            const Boxes layers = tiled<Y, Sides::layers, T>(in_layers, planes);
            if (clear.blocks + layers.blocks >= plenty || planes <= fewest_planes)
                return launch<true>(&step_cells<Equation, Y, T>, dim3(clear.blocks + layers.blocks), threads, stream, w,
                                    clear, layers, planes);
        }
    }
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
