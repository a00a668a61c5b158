#include "acoustic.hpp"

#include <algorithm>

namespace fathometer::acoustic {

template <class T> bool Acoustic<T>::has_half_points(int axis, const Box &box) const {
    return acoustic::has_half_points(pml, axis, box);
}

template <class T>
void Acoustic<T>::advance_half_points(const Wavefield<T> &w, int axis, const Box &box, const ActiveRows &active,
                                      int64_t member, int64_t members) const {
    acoustic::advance_half_points(w, pml, axis, box, active, member, members);
}

// Pressure is zero in the plane z = 0: above it, the halo of every field is the odd mirror image.
template <class T>
void Acoustic<T>::free_surface(const Wavefield<T> &w, int64_t i, int64_t j, int64_t k0, int64_t k1) const {
    for (int field = 0; field < this->fields; ++field) {
        T *cells = w.next(field) + w.at(i, j);
        if (k0 == 0)
            cells[0] = 0;
        for (int64_t k = std::max<int64_t>(k0, 1); k < std::min<int64_t>(k1, w.radius + 1); ++k)
            cells[-k] = -cells[k];
    }
}

template class Acoustic<float>;
template class Acoustic<double>;

} // namespace fathometer::acoustic
