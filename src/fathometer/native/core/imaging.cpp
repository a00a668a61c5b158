#include "imaging.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "physics.hpp"
#include "team.hpp"

namespace fathometer {

template <class T> void image_all(const Wavefield<T> &w, const Imaging<T> &imaging) {
    in_team([&] {
#pragma omp for collapse(2) schedule(static)
        for (int64_t i = imaging.box.lo[0]; i < imaging.box.hi[0]; ++i)
            for (int64_t j = imaging.box.lo[1]; j < imaging.box.hi[1]; ++j)
                w.physics->image(w, w.level, imaging, i, j, imaging.box.lo[2], imaging.box.hi[2]);
    });
}

template <class T> int64_t first_nonfinite(const Wavefield<T> &w) {
    int64_t first = std::numeric_limits<int64_t>::max();
#pragma omp parallel for collapse(2) schedule(static) reduction(min : first)
    for (int64_t i = 0; i < w.n[0]; ++i)
        for (int64_t j = 0; j < w.n[1]; ++j)
            for (int field = 0; field < w.physics->fields; ++field) {
                const T *row = w.now(field) + w.at(i, j);
                // x - x is 0 for finite x and NaN otherwise: one vector pass before looking closely.
                T sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int64_t k = 0; k < w.n[2]; ++k)
                    sum += row[k] - row[k];
                if (sum == 0)
                    continue;
                for (int64_t k = 0; k < w.n[2]; ++k)
                    if (!std::isfinite(row[k])) {
                        first = std::min(first, (i * w.n[1] + j) * w.n[2] + k);
                        break;
                    }
            }
    return first == std::numeric_limits<int64_t>::max() ? -1 : first;
}

template void image_all<float>(const Wavefield<float> &, const Imaging<float> &);
template void image_all<double>(const Wavefield<double> &, const Imaging<double> &);
template int64_t first_nonfinite<float>(const Wavefield<float> &);
template int64_t first_nonfinite<double>(const Wavefield<double> &);

} // namespace fathometer
