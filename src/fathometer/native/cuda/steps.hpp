// Time steps of a stencil's reach R on a card.
#pragma once

#include <vector>

#include "view.hpp"

namespace fathometer::cuda {

// What the kernels of a reach do, chosen when a wavefield is made.
template <class T> struct Steps {
    // psi of all layers, at the half points lo <= h < hi of the axis of each, from the fields "now".
    void (*half_points)(const View<T> &w, const int (&lo)[3], const int (&hi)[3], cudaStream_t stream);
    // "next" from "now" in some boxes, with what absorbs there.
    void (*cells)(const View<T> &w, const std::vector<Box> &boxes, cudaStream_t stream);
};

// fields: of the equation. Throws std::invalid_argument for a reach that was not compiled.
template <class T> Steps<T> steps_of(int radius, int fields, bool has_y);

template <int R, class T> Steps<T> steps_with_reach(int fields, bool has_y); // steps.cu, once for each R

} // namespace fathometer::cuda
