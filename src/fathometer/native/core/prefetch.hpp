// Rows that a later part of a sweep will need from memory, fetched while this one computes.
#pragma once

#include "simd.hpp"

namespace fathometer {

// Two of them during each row, cell by cell; none where null.
template <class T> struct Prefetch {
    const T *row[2] = {nullptr, nullptr};

    [[gnu::always_inline]] inline void fetch(int64_t k) const {
        if (row[0]) {
            prefetch(row[0] + k);
            prefetch(row[1] + k);
        }
    }
};

} // namespace fathometer
