#include "surface.hpp"

namespace fathometer {

template <class T> void mirror_surface(const Wavefield<T> &w) {
#pragma omp for collapse(2) schedule(static) nowait
    for (int64_t i = 0; i < w.n[0]; ++i)
        for (int64_t j = 0; j < w.n[1]; ++j)
            for (int field = 0; field < w.fields; ++field) {
                T *row = w.next(field) + w.at(i, j);
                row[0] = 0;
                for (int64_t k = 1; k <= w.radius; ++k)
                    row[-k] = -row[k];
            }
}

template void mirror_surface<float>(const Wavefield<float> &);
template void mirror_surface<double>(const Wavefield<double> &);

} // namespace fathometer
