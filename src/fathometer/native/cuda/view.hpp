// A wavefield on a card as its kernels see it; the words are those of core/wavefield.hpp and acoustic/pml.hpp.
#pragma once

#include "real.hpp"

namespace fathometer::cuda {

// Half-open range of owned cells on each axis.
struct Box {
    int lo[3], hi[3];

    __host__ __device__ bool empty() const { return lo[0] >= hi[0] || lo[1] >= hi[1] || lo[2] >= hi[2]; }
};

// Boxes whose tiles one kernel computes, block after block of threads.
struct Boxes {
    static constexpr int most = 48;
    int count = 0, blocks = 0;
    Box box[most];
    int start[most]; // the first block of each

    // blocks: of the box.
    void add(const Box &one, int its_blocks) {
        if (its_blocks == 0)
            return;
        if (count == most)
            throw std::logic_error("too many boxes for one kernel");
        box[count] = one;
        start[count++] = blocks;
        blocks += its_blocks;
    }
    __device__ int of(int block) const {
        int n = 0;
        while (n + 1 < count && block >= start[n + 1])
            ++n;
        return n;
    }
};

// One side that absorbs. Along its axis psi begins S half points before the first cell and ends S - 1 behind the last
// one, zero where the layer has none; rows are padded.
template <class T> struct Layer {
    int axis, cell_lo, cell_hi, half_lo, half_hi;
    Real<T> *psi, *zeta;
    int64_t psi_stride[2], zeta_stride[2];                        // of x and y
    const Real<T> *psi_gain, *psi_decay, *zeta_gain, *zeta_decay; // from half_lo, from cell_lo on
};

// By row the steps first <= n < last in which it is computed; null: all. Rows begin `margin` before the owned ones.
struct Active {
    const int32_t *first, *last; // of owned row (0, 0)
    int64_t stride;

    __device__ bool operator()(int i, int j, int step) const {
        const int64_t row = i * stride + j;
        return !first || (first[row] <= step && step < last[row]);
    }
};

template <class T> struct View {
    int n[3];
    int64_t stride[2], model_stride[2];
    const Real<T> *now[2]; // at owned cell (0, 0, 0), by field
    Real<T> *next[2];      // holds the level before
    const Real<T> *model[3];
    Real<T> weights[3][max_radius + 1];
    Real<T> staggered[3][max_pairs];
    const Real<T> *eta_dt[3]; // of a sponge, null: none
    Layer<T> layer[6];
    int layers;
    int low[3], high[3];          // layers at the first and at the last cells of an axis, by number; -1: none
    int clear_lo[3], clear_hi[3]; // cells in no layer of the axis
    Active active;
    int step; // of the loop

    __host__ __device__ int64_t at(int i, int j) const { return i * stride[0] + j * stride[1]; }
    __host__ __device__ int64_t model_at(int i, int j) const { return i * model_stride[0] + j * model_stride[1]; }
};

// What a wave equation does with derivatives: acoustic/vti.hpp and acoustic/isotropic.hpp, of scalars.
struct Vti {
    static constexpr int fields = 2, models = 3, along = 1; // field that is differentiated along z; across it is 0

    template <class T>
    __device__ static void step(const Real<T> (&m)[models], Real<T> h, Real<T> l, const Real<T> (&now)[fields],
                                const Real<T> (&grown)[fields], Real<T> (&next)[fields]) {
        next[0] = now[0] + (grown[0] + madd(m[0], h, m[1] * l));
        next[1] = now[1] + (grown[1] + madd(m[1], h, m[2] * l));
    }

    template <class T>
    __device__ static void step_damped(const Real<T> (&m)[models], Real<T> h, Real<T> l, const Real<T> (&now)[fields],
                                       const Real<T> (&grown)[fields], Real<T> (&next)[fields], Real<T> eta) {
        const Real<T> one(1), kept = one - eta, over = one + eta;
        next[0] = now[0] + madd(kept, grown[0], madd(m[0], h, m[1] * l)) / over;
        next[1] = now[1] + madd(kept, grown[1], madd(m[1], h, m[2] * l)) / over;
    }

    template <class T> __device__ static Real<T> pressure(const Real<T> *const (&field)[2], int64_t k) {
        return Real<T>(T(0.5)) * (field[0][k] + field[1][k]);
    }

    template <class T> __device__ static void inject(const Real<T> (&m)[models], Real<T> f, Real<T> (&value)[fields]) {
        const Real<T> half = f * Real<T>(T(0.5));
        value[0] = value[0] + (m[0] + m[1]) * half;
        value[1] = value[1] + (m[1] + m[2]) * half;
    }
};

struct Isotropic {
    static constexpr int fields = 1, models = 1, along = 0;

    template <class T>
    __device__ static void step(const Real<T> (&m)[models], Real<T> h, Real<T> l, const Real<T> (&now)[fields],
                                const Real<T> (&grown)[fields], Real<T> (&next)[fields]) {
        next[0] = now[0] + madd(m[0], h + l, grown[0]);
    }

    template <class T>
    __device__ static void step_damped(const Real<T> (&m)[models], Real<T> h, Real<T> l, const Real<T> (&now)[fields],
                                       const Real<T> (&grown)[fields], Real<T> (&next)[fields], Real<T> eta) {
        const Real<T> one(1);
        next[0] = now[0] + madd(one - eta, grown[0], m[0] * (h + l)) / (one + eta);
    }

    template <class T> __device__ static Real<T> pressure(const Real<T> *const (&field)[2], int64_t k) {
        return field[0][k];
    }

    template <class T> __device__ static void inject(const Real<T> (&m)[models], Real<T> f, Real<T> (&value)[fields]) {
        value[0] = value[0] + m[0] * f;
    }
};

} // namespace fathometer::cuda
