// One time step of all rows in a box, by the threads of this rank.
#pragma once

#include <algorithm>
#include <vector>

#include <omp.h>

#include "denormals.hpp"
#include "wavefield.hpp"

namespace fathometer {

// Isotropic: one field p. VTI: the stress pair u, v. The equations stand at the head of the .cpp files.
template <class T> void sweep_isotropic(const Wavefield<T> &w, const Box &box);
template <class T> void sweep_vti(const Wavefield<T> &w, const Box &box);

template <class T> inline void sweep(const Wavefield<T> &w, const Box &box) {
    w.fields == 2 ? sweep_vti(w, box) : sweep_isotropic(w, box);
}

// Calls row(i, j, scratch) for every row of the box. Each thread takes a run of x planes (the same planes that it
// touched first) and goes through them in blocks of y, so that the planes that the stencil reuses stay in its cache.
template <class T, class Row> void for_each_row(const Wavefield<T> &w, const Box &box, int buffers, Row row) {
    const int64_t nx = box.hi[0] - box.lo[0], ny = box.hi[1] - box.lo[1];
    if (nx <= 0 || ny <= 0 || box.hi[2] <= box.lo[2])
        return;
    constexpr int64_t cache_bytes = 384 * 1024;
    const int64_t plane_row_bytes = (2 * w.radius + 1) * (w.n[2] + 2 * w.radius) * int64_t(sizeof(T));
    const int64_t block = std::clamp<int64_t>(cache_bytes / plane_row_bytes - 2 * w.radius, 8, std::max<int64_t>(8, ny));
#pragma omp parallel
    {
        FlushDenormals guard;
        std::vector<T> scratch(buffers * w.n[2]);
        const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
        if (nx >= 2 * threads || ny == 1) {
            const int64_t from = box.lo[0] + nx * me / threads, to = box.lo[0] + nx * (me + 1) / threads;
            for (int64_t j0 = box.lo[1]; j0 < box.hi[1]; j0 += block)
                for (int64_t i = from; i < to; ++i)
                    for (int64_t j = j0; j < std::min(j0 + block, box.hi[1]); ++j)
                        row(i, j, scratch.data());
        } else {
            const int64_t from = box.lo[1] + ny * me / threads, to = box.lo[1] + ny * (me + 1) / threads;
            for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
                for (int64_t j = from; j < to; ++j)
                    row(i, j, scratch.data());
        }
    }
}

} // namespace fathometer
