#include "imaging.hpp"

#include <cstring>

#if !defined(FATHOMETER_EMULATED)
#include <cuda_fp16.h>
#endif

namespace fathometer::cuda {

namespace {

// A thread a cell of a box, z along warps.
struct Threads {
    dim3 blocks, threads;

    explicit Threads(const Box &box) {
        const int nz = box.hi[2] - box.lo[2], ny = box.hi[1] - box.lo[1];
        if (box.empty()) {
            blocks = dim3(0, 0, 0);
            return;
        }
        threads = dim3(nz > 32 ? 64 : 32, ny > 1 ? 4 : 1);
        blocks = dim3(parts_of(nz, threads.x), parts_of(ny, threads.y), box.hi[0] - box.lo[0]);
    }
};

__device__ inline void cell_of(const Box &box, int &i, int &j, int &k) {
    k = box.lo[2] + int(blockIdx.x * blockDim.x + threadIdx.x);
    j = box.lo[1] + int(blockIdx.y * blockDim.y + threadIdx.y);
    i = box.lo[0] + int(blockIdx.z);
}

__device__ inline int64_t offset_in(const Box &box, int i, int j, int k) {
    return (int64_t(i - box.lo[0]) * (box.hi[1] - box.lo[1]) + (j - box.lo[1])) * (box.hi[2] - box.lo[2]) +
           (k - box.lo[2]);
}

template <class Equation, class T>
__global__ void image_cells(const __grid_constant__ View<T> w, Box box, Imaging<T> imaging) {
    int i, j, k;
    cell_of(box, i, j, k);
    if (j >= box.hi[1] || k >= box.hi[2])
        return;
    const Real<T> *const next[2] = {w.next[0] + w.at(i, j), w.next[Equation::fields - 1] + w.at(i, j)};
    const Real<T> pressure = Equation::template pressure<T>(next, k);
    const int64_t at = offset_in(box, i, j, k);
    if (imaging.snapshot)
        imaging.snapshot[at] = pressure;
    if (imaging.source) {
        const Real<T> source = imaging.source[at];
        imaging.image[at] = imaging.image[at] + source * pressure;
        imaging.illumination[at] = imaging.illumination[at] + source * source;
    }
}

template <class T> __global__ void mirror(const __grid_constant__ View<T> w, int fields, int radius) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= w.n[1] || !w.active(i, j, w.step))
        return;
    for (int f = 0; f < fields; ++f) {
        Real<T> *cells = w.next[f] + w.at(i, j);
        cells[0] = Real<T>(0);
        for (int k = 1; k <= radius && k < w.n[2]; ++k)
            cells[-k] = -cells[k];
    }
}

template <class T>
__global__ void look_for_nonfinite(const __grid_constant__ View<T> w, int fields, Box box, unsigned long long *first) {
    int i, j, k;
    cell_of(box, i, j, k);
    if (j >= box.hi[1] || k >= box.hi[2])
        return;
    bool finite = true;
    for (int f = 0; f < fields; ++f) {
        const T x = w.now[f][w.at(i, j) + k].value;
        finite = finite && x - x == T(0);
    }
    if (!finite)
        atomicMin(first, static_cast<unsigned long long>(offset_in(box, i, j, k)));
}

// The larger one of two magnitudes as bits; NaN is larger than all.
template <class T> __device__ inline unsigned magnitude(Real<T> x) {
    const float f = fabsf(float(x.value));
    unsigned bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
__device__ inline float as_float(unsigned bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

__device__ inline void put(float scaled, int8_t *to) { *to = int8_t(int(scaled + (scaled < 0 ? -0.5f : 0.5f))); }
__device__ inline float get(const int8_t *from) { return float(*from); }
#if defined(FATHOMETER_EMULATED)
using Half = _Float16;
__device__ inline void put(float scaled, Half *to) { *to = Half(scaled); }
__device__ inline float get(const Half *from) { return float(*from); }
#else
using Half = __half;
__device__ inline void put(float scaled, Half *to) { *to = __float2half_rn(scaled); }
__device__ inline float get(const Half *from) { return __half2float(*from); }
#endif

template <class Q> __device__ constexpr float largest() { return sizeof(Q) == 1 ? 127.0f : 1.0f; }

constexpr int side = 8; // cells of what shares a scale

// 32 cells along z, 8 along y and x: four scales for a block of threads, which are 32 x 8.
template <class T, class Q>
__global__ void encode_cells(const Real<T> *volume, int nx, int ny, int nz, Q *encoded, float *scales) {
    const int k = blockIdx.x * warp + threadIdx.x, j = blockIdx.y * side + threadIdx.y, x0 = blockIdx.z * side;
    __shared__ unsigned highest[warp / side];
    if (threadIdx.y == 0 && threadIdx.x < warp / side)
        highest[threadIdx.x] = 0;
    __syncthreads();
    const bool inside = j < ny && k < nz;
    Real<T> cells[side];
    unsigned most = 0;
    for (int x = 0; inside && x < side && x0 + x < nx; ++x) {
        cells[x] = volume[(int64_t(x0 + x) * ny + j) * nz + k];
        most = max(most, magnitude(cells[x]));
    }
    if (inside)
        atomicMax(&highest[threadIdx.x / side], most);
    __syncthreads();
    if (!inside)
        return;
    const float scale = as_float(highest[threadIdx.x / side]);
    const int by = (ny + side - 1) / side, bz = (nz + side - 1) / side;
    if (threadIdx.x % side == 0 && threadIdx.y == 0)
        scales[(int64_t(blockIdx.z) * by + blockIdx.y) * bz + k / side] = scale;
    // A scale whose inverse overflows is that of cells that are next to nothing: they become 0.
    const float factor = scale > 2 * largest<Q>() / FLT_MAX ? largest<Q>() / scale : 0.0f;
    const bool finite = scale - scale == 0.0f;
    for (int x = 0; x < side && x0 + x < nx; ++x)
        put(finite ? float(cells[x].value) * factor : 0.0f, encoded + (int64_t(x0 + x) * ny + j) * nz + k);
}

template <class T, class Q>
__global__ void decode_cells(const Q *encoded, const float *scales, Box box, Real<T> *volume) {
    int i, j, k;
    cell_of(box, i, j, k);
    if (j >= box.hi[1] || k >= box.hi[2])
        return;
    const int by = (box.hi[1] + side - 1) / side, bz = (box.hi[2] + side - 1) / side;
    const float factor = scales[(int64_t(i / side) * by + j / side) * bz + k / side] / largest<Q>();
    const int64_t at = offset_in(box, i, j, k);
    volume[at] = Real<T>(T(get(encoded + at) * factor));
}

__global__ void triad_cells(float4 *a, const float4 *b, const float4 *c, int64_t n) {
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 x = b[i], y = c[i];
    a[i] = float4{x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w};
}

template <class T>
__global__ void pack_cells(Real<T> *field, int64_t stride_x, int64_t stride_y, Box box, Real<T> *packed,
                           bool into_field) {
    int i, j, k;
    cell_of(box, i, j, k);
    if (j >= box.hi[1] || k >= box.hi[2])
        return;
    Real<T> &cell = field[i * stride_x + j * stride_y + k], &other = packed[offset_in(box, i, j, k)];
    if (into_field)
        cell = other;
    else
        other = cell;
}

Box whole(const int n[3]) { return {{0, 0, 0}, {n[0], n[1], n[2]}}; }

} // namespace

template <class T>
void image(const View<T> &w, int fields, const Box &box, const Imaging<T> &imaging, cudaStream_t stream) {
    const Threads t(box);
    launch(fields == 2 ? &image_cells<Vti, T> : &image_cells<Isotropic, T>, t.blocks, t.threads, stream, w, box,
           imaging);
}

template <class T> void free_surface(const View<T> &w, int fields, int radius, cudaStream_t stream) {
    launch(&mirror<T>, dim3(parts_of(w.n[1], 64), w.n[0]), dim3(64), stream, w, fields, radius);
}

template <class T> void first_nonfinite(const View<T> &w, int fields, unsigned long long *first, cudaStream_t stream) {
    const Box box = whole(w.n);
    const Threads t(box);
    launch(&look_for_nonfinite<T>, t.blocks, t.threads, stream, w, fields, box, first);
}

template <class T>
void encode(const Real<T> *volume, const int n[3], int bits, void *encoded, float *scales, cudaStream_t stream) {
    const dim3 blocks(parts_of(n[2], warp), parts_of(n[1], side), parts_of(n[0], side)), threads(warp, side);
    if (bits == 8)
        launch<true>(&encode_cells<T, int8_t>, blocks, threads, stream, volume, n[0], n[1], n[2],
                     static_cast<int8_t *>(encoded), scales);
    else
        launch<true>(&encode_cells<T, Half>, blocks, threads, stream, volume, n[0], n[1], n[2],
                     static_cast<Half *>(encoded), scales);
}

template <class T>
void decode(const void *encoded, const float *scales, const int n[3], int bits, Real<T> *volume, cudaStream_t stream) {
    const Box box = whole(n);
    const Threads t(box);
    if (bits == 8)
        launch(&decode_cells<T, int8_t>, t.blocks, t.threads, stream, static_cast<const int8_t *>(encoded), scales, box,
               volume);
    else
        launch(&decode_cells<T, Half>, t.blocks, t.threads, stream, static_cast<const Half *>(encoded), scales, box,
               volume);
}

void triad(float *a, const float *b, const float *c, int64_t n, cudaStream_t stream) {
    launch(&triad_cells, dim3(parts_of(n / 4, 256)), dim3(256), stream, reinterpret_cast<float4 *>(a),
           reinterpret_cast<const float4 *>(b), reinterpret_cast<const float4 *>(c), n / 4);
}

template <class T>
void pack(Real<T> *field, const int64_t stride[2], const Box &box, Real<T> *packed, bool into_field,
          cudaStream_t stream) {
    const Threads t(box);
    launch(&pack_cells<T>, t.blocks, t.threads, stream, field, stride[0], stride[1], box, packed, into_field);
}

#define FATHOMETER_INSTANTIATE(T)                                                                                      \
    template void image(const View<T> &, int, const Box &, const Imaging<T> &, cudaStream_t);                          \
    template void free_surface(const View<T> &, int, int, cudaStream_t);                                               \
    template void first_nonfinite(const View<T> &, int, unsigned long long *, cudaStream_t);                           \
    template void encode(const Real<T> *, const int[3], int, void *, float *, cudaStream_t);                           \
    template void decode(const void *, const float *, const int[3], int, Real<T> *, cudaStream_t);                     \
    template void pack(Real<T> *, const int64_t[2], const Box &, Real<T> *, bool, cudaStream_t);
FATHOMETER_INSTANTIATE(float)
FATHOMETER_INSTANTIATE(double)

} // namespace fathometer::cuda
