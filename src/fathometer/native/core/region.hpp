// Which cells of a block can be computed when, if several steps are taken before a neighbour's cells are heard of.
//
// A step needs the cells around. Cells at least (n + 1) S away from every side that is cut between ranks can take the
// steps 0 … n without a neighbour's, S no less than the stencil's reach; this part shrinks by S a step. The rest, the
// rim, follows step by step. It may: the inner cells that it needs are not yet overwritten, for the inner part has
// gone two steps further only where it is another S away.
//
// An absorbing layer's memory psi lies at half points and is advanced once a step, before the cells that need it: p
// half points on either side, p = (R + 1) / 2. Where two parts meet at cell b (half point i lies between the cells i
// and i + 1), the one that is computed first takes all half points that it needs: up to b + p - 1 if it lies below,
// from b - p on if it lies above. The field is known that far, since 2 p - 1 <= R.
#pragma once

#include <algorithm>
#include <vector>

#include "wavefield.hpp"

namespace fathometer {

// Cells to compute in a step and, along each layer's axis, the half points that belong to them.
struct Part {
    Box cells, halves;
};

constexpr int64_t beyond = int64_t(1) << 40; // further than any half point

// All owned cells that are at least `margin` away from cut sides.
template <class T> Part inside(const Wavefield<T> &w, int64_t margin) {
    const int64_t p = (w.radius + 1) / 2;
    Part part;
    for (int axis = 0; axis < 3; ++axis) {
        const bool low = w.cut[axis][0] && margin > 0, high = w.cut[axis][1] && margin > 0;
        const int64_t n = w.n[axis], most = low && high ? n / 2 : n; // nothing left: at a place that wider parts hold
        const int64_t lo = low ? std::min(margin, most) : 0, hi = high ? std::max(n - margin, lo) : n;
        part.cells.lo[axis] = lo;
        part.cells.hi[axis] = hi;
        part.halves.lo[axis] = lo == hi ? lo : low ? lo - p : -beyond;
        part.halves.hi[axis] = lo == hi ? lo : high ? hi + p - 1 : beyond;
    }
    return part;
}

// The parts of `outer` around `inner`, which is computed before them.
inline std::vector<Part> around(Part outer, const Part &inner) {
    std::vector<Part> parts;
    for (int axis = 0; axis < 3; ++axis) {
        Part low = outer, high = outer;
        low.cells.hi[axis] = outer.cells.lo[axis] = inner.cells.lo[axis];
        low.halves.hi[axis] = outer.halves.lo[axis] = inner.halves.lo[axis];
        high.cells.lo[axis] = outer.cells.hi[axis] = inner.cells.hi[axis];
        high.halves.lo[axis] = outer.halves.hi[axis] = inner.halves.hi[axis];
        parts.push_back(low);
        parts.push_back(high);
    }
    return parts;
}

// Cut a part along x or y at two places that move together; half points follow, the lower part being computed first.
inline void restrict_to(Part &part, int axis, int64_t lo, int64_t hi, int64_t p) {
    part.cells.lo[axis] = std::max(part.cells.lo[axis], lo);
    part.cells.hi[axis] = std::max(std::min(part.cells.hi[axis], hi), part.cells.lo[axis]);
    part.halves.lo[axis] = std::max(part.halves.lo[axis], lo + p - 1);
    part.halves.hi[axis] = std::min(part.halves.hi[axis], hi + p - 1);
}

// The share of one of several members, cut along an axis.
inline Box share(Box box, int axis, int64_t member, int64_t members) {
    const int64_t lo = box.lo[axis], n = std::max<int64_t>(box.hi[axis] - lo, 0);
    box.lo[axis] = lo + n * member / members;
    box.hi[axis] = lo + n * (member + 1) / members;
    return box;
}

} // namespace fathometer
