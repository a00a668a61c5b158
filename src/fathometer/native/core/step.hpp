// One time step of some cells, with all that belongs to it, row by row while the rows are in the cache:
//
//   what absorbs at the sides; record the receivers; "next" from "now"; add the sources; mirror at the free surface;
//   at an imaging step: snapshot or image
//
// Rows that are not computed in this step (active.hpp) are recorded and imaged as they are.
#pragma once

#include <algorithm>

#include "job.hpp"
#include "lookahead.hpp"
#include "physics.hpp"

namespace fathometer {

// Rows of a block, which stay in a core's cache until the stencil has used them from all sides.
template <class T> int64_t block_rows(const Wavefield<T> &w) {
    constexpr int64_t cache_bytes = 640 * 1024;
    const int64_t row_bytes = w.physics->wide * (2 * w.radius + 1) * (w.n[2] + 2 * w.radius) * int64_t(sizeof(T));
    return std::max<int64_t>(cache_bytes / row_bytes - 2 * w.radius, 8);
}

// Step n of a job: from the level "now" of the wavefield to "next". Where a time step has stages, n counts these, and
// the level is the stage.
template <class T> class Step {
  public:
    Step(const Wavefield<T> &wave, RowStepper<T> &stepper, const Job<T> &job, int64_t n)
        : w(wave), physics(*wave.physics), stepper(stepper), job(job), imaging(job.imaging_after(n)),
          active(job.active.rows(n)), time(n / wave.physics->stages) {}

    // A part's cells, block after block, and the half points that its rows advance.
    void compute(const Part &part, Lookahead<T> &ahead) const {
        const Box &box = part.cells;
        const int64_t block = block_rows(w), planes = w.has_y ? 1 : block;
        for (int64_t j = box.lo[1]; j < box.hi[1]; j += block)
            for (int64_t i = box.lo[0]; i < box.hi[0]; i += planes)
                rows({{i, j, box.lo[2]}, {std::min(i + planes, box.hi[0]), std::min(j + block, box.hi[1]), box.hi[2]}},
                     part.halves, ahead);
    }

  private:
    const Wavefield<T> &w;
    const Physics<T> &physics;
    RowStepper<T> &stepper;
    const Job<T> &job;
    const Imaging<T> *imaging;
    const ActiveRows active;
    int64_t time; // the row of the job's series

    void rows(const Box &box, const Box &halves, Lookahead<T> &ahead) const {
        const int64_t k0 = box.lo[2], k1 = box.hi[2];
        if (k0 >= k1)
            return;
        for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
            for (int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
                if (job.receivers)
                    physics.sample(w, *job.receivers, job.lines.row(time), i, j, k0, k1);
                if (active(i, j))
                    stepper.step(w, halves, i, j, k0, k1, ahead.next());
            }
        if (!job.sources && !w.free_surface && !imaging)
            return;
        for (int64_t i = box.lo[0]; i < box.hi[0]; ++i)
            for (int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
                const bool computed = active(i, j);
                if (computed && job.sources)
                    physics.inject(w, *job.sources, job.injected.row(time), job.scale, i, j, k0, k1);
                if (computed && w.free_surface)
                    physics.free_surface(w, i, j, k0, k1);
                if (imaging)
                    physics.image(w, 1 - w.level, *imaging, i, j, k0, k1);
            }
    }
};

} // namespace fathometer
