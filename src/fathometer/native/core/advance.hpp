// Several time steps of a wavefield.
//
// A plain sweep goes through the memory once a step. With time tiling it goes through it once in several steps: the
// grid is cut into tiles across y, each a number of rows wide; a tile goes through the grid in x, block after block,
// and takes all steps of a block before the next. Step n lies n S cells further back in x and in y than step 0 (S: the
// stencil's reach), so that all that it reads has been computed, and nothing is overwritten before it was read:
//
//     for each tile in y: for each block in x: for n in 0 … depth-1:
//         cells [x0 - n S, x1 - n S) × [y0 - n S, y1 - n S) × z of step n
//
// A tile's cells in flight must fit the cache. Tiles run in parallel, one a thread or one a few threads (that then
// share a block's rows and meet after each step); a tile follows the one before it at the distance of a block.
// (Wonnacott 2000, IPDPS; Wellein et al. 2009, COMPSAC; Malas et al. 2015, SIAM J. Sci. Comput. 37(4).)
//
// Arithmetic never depends on tiles: results are the same, bit for bit, for all shapes, depths and threads.
#pragma once

#include "step.hpp"

namespace fathometer {

// The choices of a sweep. Cells; depth 1 is a plain sweep, for which the other numbers do not matter.
struct Tiling {
    int64_t depth; // steps a sweep
    int64_t block; // width of a block in x
    int64_t tile;  // width of a tile in y; with no y, of a block in x, which all threads share
    int64_t team;  // threads that share a tile
};

// S: cells that a step reaches: the stencil's; those around a receiver's anchor that it is recorded from; those that
// are on their way to a neighbour, and must not be overwritten until they have left.
template <class T> int64_t skew(const Wavefield<T> &w, const Job<T> &job);

// All steps where no side is cut; `steps` may be more than the tiling's depth.
template <class T> void advance(Wavefield<T> &w, int64_t steps, const Job<T> &job, const Tiling &tiling);

// Where sides are cut: of `steps` steps from step n on, what needs no neighbour (region.hpp): the part-th of `parts`
// pieces of it, to be called in turn. n is counted from the level, which is left as it is.
template <class T>
void advance_inside(const Wavefield<T> &w, int64_t n, int64_t steps, const Job<T> &job, const Tiling &tiling,
                    int64_t part, int64_t parts);

// The cells of step n at least `outer` and less than `inner` away from the cut sides.
template <class T> void advance_rim(const Wavefield<T> &w, int64_t n, const Job<T> &job, int64_t outer, int64_t inner);

} // namespace fathometer
