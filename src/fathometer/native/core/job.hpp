// What happens in a propagation beside the equation itself.
#pragma once

#include <vector>

#include "active.hpp"
#include "imaging.hpp"
#include "points.hpp"

namespace fathometer {

// A series per column: row n holds the values of all columns at step n.
template <class T> struct Series {
    T *values = nullptr;
    int64_t columns = 0;
    T *row(int64_t n) const { return values + n * columns; }
};

// Null parts do not take place.
template <class T> struct Job {
    const Points<T> *sources = nullptr;
    Series<const T> injected;
    T scale = 0; // of the injected values: 1 / cell volume
    const Points<T> *receivers = nullptr;
    Series<T> lines; // of the receivers
    std::vector<Imaging<T>> imaging;
    Active active;

    // What is done after step n, null where that is nothing.
    const Imaging<T> *imaging_after(int64_t n) const {
        for (const Imaging<T> &at : imaging)
            if (at.step == n)
                return &at;
        return nullptr;
    }
};

} // namespace fathometer
