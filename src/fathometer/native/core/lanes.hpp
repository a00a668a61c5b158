// Vectors at the ends of a range of cells, of which only some lanes count.
#pragma once

#include <algorithm>

#include "simd.hpp"

namespace fathometer {

// The lanes of the vector at k that lie in k0..k1: all of them where `Whole`. Vectors begin at whole multiples of their
// width, where rows of fields are aligned and padded: a field may always be loaded whole.
template <class T, bool Whole> struct Lanes {
    std::int64_t first, last;

    Lanes(std::int64_t k, std::int64_t k0, std::int64_t k1)
        : first(Whole ? 0 : std::max<std::int64_t>(k0 - k, 0)),
          last(Whole ? lanes<T> : std::min<std::int64_t>(k1 - k, lanes<T>)) {}

    [[gnu::always_inline]] inline Vector<T> load(const T *from) const {
        if constexpr (Whole)
            return fathometer::load(from);
        else
            return load_lanes(from, first, last);
    }
    [[gnu::always_inline]] inline void store(T *to, Vector<T> v) const {
        if constexpr (Whole)
            fathometer::store(to, v);
        else
            store_lanes(to, v, first, last);
    }
};

} // namespace fathometer
