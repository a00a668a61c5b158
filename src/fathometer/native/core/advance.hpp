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

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "step.hpp"

namespace fathometer {

// The choices of a sweep. Cells; depth 1 is a plain sweep, for which the other numbers do not matter.
struct Tiling {
    int64_t depth; // steps a sweep
    int64_t block; // width of a block in x
    int64_t tile;  // width of a tile in y; with no y, of a block in x, which all threads share
    int64_t team;  // threads that share a tile
};

// S: cells that a step reaches: the stencil's; those that are on their way to a neighbour, and must not be overwritten
// until they have left; where rows are cut along z, those around a receiver's anchor that its lines are taken from.
template <class T> int64_t skew(const Wavefield<T> &w, const Job<T> &job);

// What two ranks tell each other of the rows next to a cut in y, while each computes its half of the diamonds there.
// Messages of a side are numbered from -1 on. At most `ahead` of them are under way, while another one is packed.
template <class T> class Faces {
  public:
    static constexpr int64_t ahead = 2, slots = ahead + 1;
    const int first; // side whose halves are computed first: the neighbour there does so, too

    // fields: that travel, by the level of the step that reads them. rows: next to a side. row: numbers of one.
    Faces(int first, std::array<std::vector<int>, 2> fields, int64_t rows, int64_t row)
        : first(first), fields(std::move(fields)), rows(rows), row(row) {}
    virtual ~Faces() = default;

    // Have room for messages of so many numbers.
    virtual void require(int64_t numbers) = 0;
    virtual T *leaving(int side, int64_t message) = 0; // room for it
    // Begin to send what lies there, and to receive as much.
    virtual void trade(int side, int64_t message, int64_t numbers) = 0;
    virtual bool arrived(int side, int64_t message) = 0;        // whether it has come, and what was sent has gone
    virtual const T *come(int side, int64_t message) const = 0; // what has come
    // Until one of the messages of these sides, of the numbers that stand there, has arrived, or for so many seconds;
    // -2: of none.
    virtual void wait(const std::array<int64_t, 2> &messages, double most) = 0;
    // Whether a call has failed: no more are made, and the wavefield is lost. `rethrow` says why.
    virtual bool failed() const = 0;
    virtual void rethrow() = 0;

    int64_t plane_numbers(int level) const { return int64_t(fields[level].size()) * rows * row; }

    // Rows of planes lo to hi of the level "now" into a message, and where it goes on.
    T *pack(const Wavefield<T> &w, int side, int64_t lo, int64_t hi, T *to) const {
        for_rows(w, lo, hi, side ? w.n[1] - rows : 0, [&](T *from) { to = std::copy_n(from, row, to); });
        return to;
    }

    // The same into the rows beyond a side.
    const T *unpack(const Wavefield<T> &w, int side, int64_t lo, int64_t hi, const T *from) const {
        for_rows(w, lo, hi, side ? w.n[1] : -rows, [&](T *to) {
            std::copy_n(from, row, to);
            from += row;
        });
        return from;
    }

  private:
    const std::array<std::vector<int>, 2> fields;
    const int64_t rows, row;

    template <class Copy>
    void for_rows(const Wavefield<T> &w, int64_t lo, int64_t hi, int64_t first_row, Copy copy) const {
        for (int field : fields[w.level])
            for (int64_t i = lo; i < hi; ++i)
                for (int64_t j = first_row; j < first_row + rows; ++j)
                    copy(w.buffer[field][w.level] + w.origin + w.at(i, j));
    }
};

// All steps where no side is cut; `steps` may be more than the tiling's depth. With faces, in diamonds, sides in y may
// be cut.
template <class T>
void advance(Wavefield<T> &w, int64_t steps, const Job<T> &job, const Tiling &tiling, Faces<T> *faces = nullptr);

// Where sides are cut: of `steps` steps from step n on, what needs no neighbour (region.hpp): the part-th of `parts`
// pieces of it, to be called in turn. n is counted from the level, which is left as it is.
template <class T>
void advance_inside(const Wavefield<T> &w, int64_t n, int64_t steps, const Job<T> &job, const Tiling &tiling,
                    int64_t part, int64_t parts);

// The cells of step n at least `outer` and less than `inner` away from the cut sides.
template <class T> void advance_rim(const Wavefield<T> &w, int64_t n, const Job<T> &job, int64_t outer, int64_t inner);

} // namespace fathometer
