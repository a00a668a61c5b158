// The acoustic wave equations as the rest of the kernels see them: an equation, and what absorbs at its sides.
#pragma once

#include <memory>

#include "core/physics.hpp"
#include "pml.hpp"
#include "sponge.hpp"

namespace fathometer::acoustic {

// A sponge or a PML or neither.
template <class T> class Acoustic : public Physics<T> {
  public:
    Sponge<T> sponge;
    Pml<T> pml{};

    using Physics<T>::Physics;
    bool has_half_points(int axis, const Box &box) const override;
    void advance_half_points(const Wavefield<T> &w, int axis, const Box &box, const ActiveRows &active, int64_t member,
                             int64_t members) const override;
    void free_surface(const Wavefield<T> &w, int64_t i, int64_t j, int64_t k0, int64_t k1) const override;
};

template <class T> std::unique_ptr<Acoustic<T>> isotropic(); // isotropic.hpp
template <class T> std::unique_ptr<Acoustic<T>> vti();       // vti.hpp

} // namespace fathometer::acoustic
