// Absorbing layers by damping, a sponge: w_tt + 2 eta w_t = M D w, eta growing towards the sides (leapfrog.hpp). The
// energy can only fall, whatever the profile.
#pragma once

#include "core/wavefield.hpp"

namespace fathometer::acoustic {

// The sum of a profile an axis; null where there is no sponge.
template <class T> struct Sponge {
    const T *eta_dt[3] = {nullptr, nullptr, nullptr};

    explicit operator bool() const { return eta_dt[0] != nullptr; }
    T at(int64_t i, int64_t j, int64_t k) const { return eta_dt[0][i] + eta_dt[1][j] + eta_dt[2][k]; }
};

} // namespace fathometer::acoustic
