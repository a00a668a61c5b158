// The order in which rows are fetched beforehand.
#pragma once

#include "physics.hpp"

namespace fathometer {

// The rows that the cells of a box will read and write first, one after the other.
template <class T> class Lookahead {
  public:
    Lookahead() = default;
    Lookahead(const Wavefield<T> &w, const Box &box)
        : wave(&w), rows(box), i(box.lo[0]), j(box.lo[1]), fields(w.physics->fields),
          arrays(2 * fields + w.physics->models), across(w.physics->differentiated[0]) {
        if (box.lo[1] >= box.hi[1] || box.lo[2] >= box.hi[2])
            i = rows.hi[0] = box.lo[0];
    }

    Prefetch<T> next() {
        if (!wave || i >= rows.hi[0])
            return {};
        const T *first = row();
        const T *second = i < rows.hi[0] ? row() : first;
        return {{first, second}};
    }

  private:
    const Wavefield<T> *wave = nullptr;
    Box rows{};
    int64_t i = 0, j = 0;
    int fields = 0, arrays = 0, across = 0;
    int array = 0; // fields now, then fields next, then the model

    const T *row() {
        const Wavefield<T> &w = *wave;
        // Of the field that is differentiated along x, the plane that the stencil reaches is new; the nearer ones were
        // read before.
        const int64_t reach = array == across ? w.radius : 0;
        const T *address = array < fields       ? w.now(array) + w.at(i + reach, j)
                           : array < 2 * fields ? w.next(array - fields) + w.at(i, j)
                                                : w.model[array - 2 * fields] + w.model_at(i, j);
        if (++array == arrays) {
            array = 0;
            if (++j == rows.hi[1]) {
                j = rows.lo[1];
                ++i;
            }
        }
        return address;
    }
};

} // namespace fathometer
