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
// (the same planes that it touched first) and goes through them in blocks of rows, so that the rows that the stencil
// reuses stay in its cache.
template <int R, int F, class T, class Row> void for_each_row(const Wavefield<T> &w, const Box &box, Row row) {
    const int64_t nx = box.hi[0] - box.lo[0], ny = box.hi[1] - box.lo[1];
    if (nx <= 0 || ny <= 0 || box.hi[2] <= box.lo[2])
        return;
    auto rows = [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
        for (int64_t i = i0; i < i1; ++i)
            for (int64_t j = j0; j < j1; ++j)
                row(i, j);
        add_layers<R, F>(w, Box{{i0, j0, box.lo[2]}, {i1, j1, box.hi[2]}});
    };
    constexpr int64_t cache_bytes = 640 * 1024;
    const int64_t row_bytes = (2 * R + 1) * (w.n[2] + 2 * R) * int64_t(sizeof(T));
    const int64_t block = std::max<int64_t>(cache_bytes / row_bytes - 2 * R, 8);
    const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    auto part = [&](int64_t t, int axis) { return box.lo[axis] + (box.hi[axis] - box.lo[axis]) * t / threads; };
    if (ny == 1) {
        for (int64_t i = part(me, 0); i < part(me + 1, 0); i += block)
            rows(i, std::min(i + block, part(me + 1, 0)), box.lo[1], box.hi[1]);
    } else if (nx >= 2 * threads) {
        for (int64_t j = box.lo[1]; j < box.hi[1]; j += block)
            for (int64_t i = part(me, 0); i < part(me + 1, 0); ++i)
                rows(i, i + 1, j, std::min(j + block, box.hi[1]));
    } else {
        for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
            rows(i, i + 1, part(me, 1), part(me + 1, 1));
    }
}

} // namespace fathometer
