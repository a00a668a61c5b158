// One time step of some cells, with all that belongs to it, row by row while the rows are in the cache:
//
//   the absorbing layers' memories; record the receivers; "next" from "now"; add the sources; mirror at the free
//   surface; after the last step: snapshot or image
#pragma once

#include "imaging.hpp"
#include "points.hpp"
#include "row.hpp"
#include "stretch.hpp"

namespace fathometer {

// A series per column: row n holds the values of all columns at step n.
template <class T> struct Series {
    T *values = nullptr;
    int64_t columns = 0;
    T *row(int64_t n) const { return values + n * columns; }
};

// What happens in a propagation beside the equation itself; null parts do not.
template <class T> struct Job {
    const Points<T> *sources = nullptr;
    Series<const T> injected;
    T scale = 0; // of the injected values: 1 / cell volume
    const Points<T> *receivers = nullptr;
    Series<T> recorded;
    Imaging<T> imaging{}; // at the last step
};

// The rows that the cells of a box will read and write first, one after the other.
template <class T> class Lookahead {
  public:
    Lookahead() = default;
    Lookahead(const Wavefield<T> &w, const Box &box) : wave(&w), rows(box), i(box.lo[0]), j(box.lo[1]) {
        if (box.lo[1] >= box.hi[1] || box.lo[2] >= box.hi[2])
            i = rows.hi[0] = box.lo[0];
    }

    Ahead<T> next() {
        if (!wave || i >= rows.hi[0])
            return {};
        const T *first = row();
        const T *second = i < rows.hi[0] ? row() : first;
        return {{first, second}};
    }

  private:
    const Wavefield<T> *wave = nullptr;
    Box rows{};
    int64_t i = 0, j = 0;
    int array = 0;

    const T *row() {
        const Wavefield<T> &w = *wave;
        const int fields = w.fields, models = fields == 2 ? 3 : 1;
        // Of field 0, the plane that the stencil reaches is new; the nearer ones were read before.
        const T *address = array == 0           ? w.now(0) + w.at(i + w.radius, j)
                           : array < fields     ? w.now(array) + w.at(i, j)
                           : array < 2 * fields ? w.next(array - fields) + w.at(i, j)
                                                : w.model[array - 2 * fields] + w.model_at(i, j);
        if (++array == 2 * fields + models) {
            array = 0;
            if (++j == rows.hi[1]) {
                j = rows.lo[1];
                ++i;
            }
        }
        return address;
    }
};

// Rows of a block, which stay in a core's cache until the stencil has used them from all sides.
template <class T> int64_t block_rows(const Wavefield<T> &w) {
    constexpr int64_t cache_bytes = 640 * 1024;
    const int64_t row_bytes = (2 * w.radius + 1) * (w.n[2] + 2 * w.radius) * int64_t(sizeof(T));
    return std::max<int64_t>(cache_bytes / row_bytes - 2 * w.radius, 8);
}

// Step n of a job: from the level "now" of the wavefield to "next".
template <class T> class Step {
  public:
    Step(const Wavefield<T> &wave, Stretches<T> &stretches, const Job<T> &job, int64_t n, bool last)
        : w(wave), stretches(stretches), job(job), n(n), last(last && (job.imaging.snapshot || job.imaging.source)),
          row(row_kernel(wave)) {}

    // The cells of a box, block after block.
    void compute(const Box &box, Lookahead<T> &ahead) const {
        const int64_t block = block_rows(w), planes = w.has_y ? 1 : block;
        for (int64_t j = box.lo[1]; j < box.hi[1]; j += block)
            for (int64_t i = box.lo[0]; i < box.hi[0]; i += planes)
                rows({{i, j, box.lo[2]}, {std::min(i + planes, box.hi[0]), std::min(j + block, box.hi[1]), box.hi[2]}},
                     ahead);
    }

  private:
    const Wavefield<T> &w;
    Stretches<T> &stretches;
    const Job<T> &job;
    int64_t n;
    bool last;
    Row<T> row;

    void rows(const Box &box, Lookahead<T> &ahead) const {
        const int64_t k0 = box.lo[2], k1 = box.hi[2];
        if (k0 >= k1)
            return;
        const bool layers = !w.layers.empty();
        if (layers)
            stretches.prepare(w, box);
        for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
            for (int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
                if (job.receivers)
                    sample(w, *job.receivers, job.recorded.row(n), i, j, k0, k1);
                row(w, i, j, k0, k1, layers ? stretches.row(i, j) : Stretch<T>{}, ahead.next());
            }
        if (!job.sources && !w.free_surface && !last)
            return;
        for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
            for (int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
                if (job.sources)
                    inject(w, *job.sources, job.injected.row(n), job.scale, i, j, k0, k1);
                if (w.free_surface)
                    mirror(i, j, k0, k1);
                if (last)
                    image_row(w, 1 - w.level, job.imaging, i, j, k0, k1);
            }
    }

    // Pressure is zero in the plane z = 0: above it, the halo is the odd mirror image.
    void mirror(int64_t i, int64_t j, int64_t k0, int64_t k1) const {
        for (int field = 0; field < w.fields; ++field) {
            T *cells = w.next(field) + w.at(i, j);
            if (k0 == 0)
                cells[0] = 0;
            for (int64_t k = std::max<int64_t>(k0, 1); k < std::min<int64_t>(k1, w.radius + 1); ++k)
                cells[-k] = -cells[k];
        }
    }
};

} // namespace fathometer
