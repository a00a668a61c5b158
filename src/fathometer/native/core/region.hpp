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
//
// Across x and y that is done by the rows themselves: row i advances half point i + p - 1, the highest that it needs,
// from the rows i … i + 2 p - 1, which its stencil reads anyway; the lower ones were advanced by the rows before. What
// is left, the lowest half points of a grid and those around the borders between threads that share a part, is
// advanced before any of the part's rows (for_each_early).
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

// p: half points that a cell needs on either side.
template <class T> int64_t half_reach(const Wavefield<T> &w) { return (w.radius + 1) / 2; }

// All owned cells that are at least `margin` away from cut sides.
template <class T> Part inside(const Wavefield<T> &w, int64_t margin) {
    const int64_t p = half_reach(w);
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

// The same of a part, with the half points that the member's rows advance: not those that another member's rows need.
inline Part share(const Part &part, int axis, int64_t member, int64_t members, int64_t p) {
    Part mine{share(part.cells, axis, member, members), part.halves};
    for (int a = 0; a < 2; ++a) {
        const bool followed = a == axis && member + 1 < members;
        mine.halves.lo[a] = std::max(part.halves.lo[a], mine.cells.lo[a] + p - 1);
        mine.halves.hi[a] = std::min(part.halves.hi[a], mine.cells.hi[a] + (followed ? -p : p - 1));
    }
    return mine;
}

// Calls early(lo, hi) for the half points of an axis that no member's rows advance.
template <class Early>
void for_each_early(const Part &part, int axis, int cut, int64_t members, int64_t p, const Early &early) {
    int64_t from = part.halves.lo[axis];
    for (int64_t member = 0; axis < 2 && member < (axis == cut ? members : 1); ++member) {
        const Box mine = share(part, cut, member, members, p).halves;
        if (mine.lo[axis] >= mine.hi[axis])
            continue;
        if (from < mine.lo[axis])
            early(from, mine.lo[axis]);
        from = mine.hi[axis];
    }
    if (from < part.halves.hi[axis])
        early(from, part.halves.hi[axis]);
}

} // namespace fathometer
