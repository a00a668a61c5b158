// The order in which rows are fetched beforehand.
#pragma once

#include <vector>

#include "physics.hpp"

namespace fathometer {

// The rows that the cells of some boxes will read and write first, one after the other.
template <class T> class Lookahead {
  public:
    // After the boxes before, those of a wavefield's next step.
    void add(const Wavefield<T> &w, const Box &box) {
        if (box.lo[0] < box.hi[0] && box.lo[1] < box.hi[1] && box.lo[2] < box.hi[2])
            boxes.push_back({&w, box});
        if (boxes.size() == 1)
            start();
    }

    Prefetch<T> next() {
        if (at == boxes.size())
            return {};
        const T *first = row();
        const T *second = at < boxes.size() ? row() : first;
        return {{first, second}};
    }

  private:
    struct Rows {
        const Wavefield<T> *wave;
        Box box;
    };
    std::vector<Rows> boxes;
    std::size_t at = 0;
    int64_t i = 0, j = 0;
    int array = 0; // fields now, then fields next, then the model

    void start() {
        i = boxes[at].box.lo[0];
        j = boxes[at].box.lo[1];
    }

    const T *row() {
        const Wavefield<T> &w = *boxes[at].wave;
        const Box &box = boxes[at].box;
        const int fields = w.physics->fields, arrays = 2 * fields + w.physics->models;
        // Of the field that is differentiated along x, the plane that the stencil reaches is new; the nearer ones were
        // read before.
        const int64_t reach = array == w.physics->differentiated[0] ? w.radius : 0;
        const T *address = array < fields       ? w.now(array) + w.at(i + reach, j)
                           : array < 2 * fields ? w.next(array - fields) + w.at(i, j)
                                                : w.model[array - 2 * fields] + w.model_at(i, j);
        if (++array == arrays) {
            array = 0;
            if (++j == box.hi[1]) {
                j = box.lo[1];
                if (++i == box.hi[0] && ++at < boxes.size())
                    start();
            }
        }
        return address;
    }
};

} // namespace fathometer
