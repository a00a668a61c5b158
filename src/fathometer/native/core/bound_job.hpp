// A job as Python makes it, with checks of every array.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "job.hpp"
#include "physics.hpp"

namespace fathometer {

template <class T> void require_columns(const Points<T> &points, int64_t columns) {
    for (int64_t column : points.column)
        require(column >= 0 && column < columns, "a point's column is outside the series");
}

// A job with the arrays that it reads and writes, which it keeps alive.
template <class T> class BoundJob {
  public:
    Job<T> job{};

    BoundJob(nb::object sources, std::optional<Input<T, 2>> injected, T scale, nb::object receivers,
             std::optional<Array<T, 2>> lines, std::optional<Input<int32_t, 3>> active, int64_t start)
        : points{sources, receivers} {
        if (!sources.is_none()) {
            require(injected.has_value(), "sources need a series");
            require(std::isfinite(scale), "the scale of a series is not finite");
            job.sources = nb::cast<const Points<T> *>(sources);
            job.injected = {injected->data(), int64_t(injected->shape(1))};
            job.scale = scale;
            steps = injected->shape(0);
            require_columns(*job.sources, job.injected.columns);
            series_in = *injected;
        }
        if (!receivers.is_none()) {
            require(lines.has_value(), "receivers need room for their lines");
            job.receivers = nb::cast<const Points<T> *>(receivers);
            job.lines = {lines->data(), int64_t(lines->shape(1))};
            steps = std::min(steps, int64_t(lines->shape(0)));
            require(job.receivers->line.size() && job.receivers->line.back() == job.lines.columns,
                    "receivers have as many lines as there is room for");
            series_out = *lines;
        }
        if (active) {
            const auto [ends, x, stride] = shape_of<3>(*active);
            constexpr int64_t least = Active::margin + 1;
            check_arrays({{"active", active, {2, x, stride}}, {"active", active, {2, least, least}, at_least}});
            const int64_t rows = x * stride;
            const int32_t *first = active->data() + Active::margin * (stride + 1);
            job.active = {first, first + rows, stride, start};
            rows_of_steps = *active;
        }
    }

    // After a step: snapshot = p; or image and illumination of a source's snapshot. Nothing is more than one of these.
    void add_imaging(int64_t step, const Index3 &lo, const Index3 &hi, const std::optional<Array<T, 3>> &snapshot,
                     const std::optional<Array<T, 3>> &source, const std::optional<Array<T, 3>> &image,
                     const std::optional<Array<T, 3>> &illumination) {
        require(!source == !image && !image == !illumination, "source, image and illumination belong together");
        require(step >= 0 && !job.imaging_after(step), "one imaging a step");
        const Box box{{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}};
        job.imaging.push_back({step, box, keep("snapshot", snapshot, box), keep("source", source, box),
                               keep("image", image, box), keep("illumination", illumination, box)});
    }

    void check(const Wavefield<T> &w, int64_t wanted) const {
        require(wanted >= 0 && (wanted + w.physics->stages - 1) / w.physics->stages <= steps,
                "a row of the series is needed for every step");
        for (const Points<T> *p : {job.sources, job.receivers})
            require(!p || (p->rows_y == w.n[1] && int64_t(p->start.size()) == w.n[0] * w.n[1] + 1),
                    "the points were sorted for another block");
        for (const Points<T> *p : {job.sources, job.receivers}) {
            require(!p || w.physics->stages == 1 || int64_t(p->field.size()) == p->size(), "points need their fields");
            for (int32_t field : p ? p->field : std::vector<int32_t>{})
                require(field >= 0 && field < w.physics->touched(), "a point's field is not stepped");
        }
        check_arrays({{"active", rows_of_steps, {2, Active::margin + w.n[0], Active::margin + w.n[1]}}});
        for (const Imaging<T> &imaging : job.imaging)
            for (int axis = 0; axis < 3; ++axis)
                require(imaging.box.lo[axis] >= 0 && imaging.box.hi[axis] <= w.n[axis], "a box leaves the owned cells");
    }

  private:
    int64_t steps = std::numeric_limits<int64_t>::max();
    std::array<nb::object, 2> points;
    std::optional<Input<T, 2>> series_in;
    std::optional<Array<T, 2>> series_out;
    std::optional<Input<int32_t, 3>> rows_of_steps;
    std::vector<Array<T, 3>> volumes;

    T *keep(const char *name, const std::optional<Array<T, 3>> &volume, const Box &box) {
        if (!volume)
            return nullptr;
        check_arrays({{name, *volume, {box.hi[0] - box.lo[0], box.hi[1] - box.lo[1], box.hi[2] - box.lo[2]}}});
        volumes.push_back(*volume);
        return volume->data();
    }
};

} // namespace fathometer
