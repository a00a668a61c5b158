// One time step of all rows in a box, by the threads of a team.
#pragma once

#include <algorithm>

#include <omp.h>

#include "stretch.hpp"
#include "wavefield.hpp"

namespace fathometer {

// Isotropic: one field p. VTI: the stress pair u, v. The equations stand at the head of the .cpp files.
template <class T> void sweep_isotropic(const Wavefield<T> &w, const Box &box);
template <class T> void sweep_vti(const Wavefield<T> &w, const Box &box);

template <class T> inline void sweep(const Wavefield<T> &w, const Box &box) {
    w.fields == 2 ? sweep_vti(w, box) : sweep_isotropic(w, box);
}

// Calls row(i, j) for every row of the box and adds the absorbing layers' part. Each thread takes a run of x planes
// (the same planes that it touched first) and goes through them in blocks of y, so that the planes that the stencil
// reuses stay in its cache.
template <int R, int F, class T, class Row> void for_each_row(const Wavefield<T> &w, const Box &box, Row row) {
    const int64_t nx = box.hi[0] - box.lo[0], ny = box.hi[1] - box.lo[1];
    if (nx <= 0 || ny <= 0 || box.hi[2] <= box.lo[2])
        return;
    constexpr int64_t cache_bytes = 384 * 1024;
    const int64_t row_bytes = (2 * R + 1) * (w.n[2] + 2 * R) * int64_t(sizeof(T));
    const int64_t block = std::clamp<int64_t>(cache_bytes / row_bytes - 2 * R, 8, std::max<int64_t>(8, ny));
    auto rows = [&](int64_t i, int64_t j0, int64_t j1) {
        for (int64_t j = j0; j < j1; ++j)
            row(i, j);
        add_layers<R, F>(w, i, j0, j1, box.lo[2], box.hi[2]);
    };
    const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    if (nx >= 2 * threads || ny == 1) {
        const int64_t from = box.lo[0] + nx * me / threads, to = box.lo[0] + nx * (me + 1) / threads;
        for (int64_t j = box.lo[1]; j < box.hi[1]; j += block)
            for (int64_t i = from; i < to; ++i)
                rows(i, j, std::min(j + block, box.hi[1]));
    } else {
        const int64_t from = box.lo[1] + ny * me / threads, to = box.lo[1] + ny * (me + 1) / threads;
        for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
            rows(i, from, to);
    }
}

} // namespace fathometer
