#include "advance.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <omp.h>

#include "team.hpp"

namespace fathometer {

namespace {

// What a thread has for itself: the wavefield at both of its levels, so that it can take step after step.
template <class T> class Levels {
  public:
    const std::unique_ptr<RowStepper<T>> stepper;

    explicit Levels(const Wavefield<T> &w) : stepper(w.physics->stepper(w)), at{w, w} { at[1].level = 1 - w.level; }
    const Wavefield<T> &step(int64_t n) const { return at[n % 2]; }
    void swap() { std::swap(at[0].level, at[1].level); }

  private:
    Wavefield<T> at[2];
};

// Advances the half points of a part that its members' rows do not: one member's share of them. Returns whether there
// were any, which is the same for all: they must then meet before the rows.
template <class T>
bool advance_early(const Wavefield<T> &w, const Part &part, const ActiveRows &active, int cut, int64_t member,
                   int64_t members) {
    bool any = false;
    for (int axis = 0; axis < 3; ++axis)
        for_each_early(part, axis, cut, members, half_reach(w), [&](int64_t lo, int64_t hi) {
            Box box = part.cells;
            box.lo[axis] = lo;
            box.hi[axis] = hi;
            if (w.physics->has_half_points(axis, box)) {
                w.physics->advance_half_points(w, axis, box, active, member, members);
                any = true;
            }
        });
    return any;
}

// A sweep of several steps in tiles, over all cells that can take them without a neighbour.
template <class T> class Sweep {
  public:
    Sweep(const Wavefield<T> &w, int64_t steps, int64_t skew, const Tiling &tiling, int64_t threads)
        : steps(steps), skew(skew), p(half_reach(w)), shared_axis(w.has_y ? 1 : 0),
          team(w.has_y ? std::clamp<int64_t>(tiling.team, 1, threads) : threads), teams(threads / team),
          block(std::max<int64_t>(w.has_y ? tiling.block : tiling.tile, 1)) {
        for (int64_t n = 0; n < steps; ++n)
            inner.push_back(inside(w, (n + 1) * skew));
        blocks = (extent(0) + block - 1) / block;
        cut_tiles(w.has_y ? tiling.tile : extent(1));
        done = std::vector<Progress>(tiles());
        barriers = std::vector<Barrier>(teams);
    }

    int64_t tiles() const { return int64_t(edge.size()) - 1; }

    // By every thread of a team: the tiles lo to hi, first_step counting the job's steps. `turn` counts the calls.
    void run(Levels<T> &w, const Job<T> &job, int64_t first_step, int64_t turn, int64_t lo, int64_t hi) {
        const int64_t me = omp_get_thread_num(), group = me / team, member = me % team;
        if (group >= teams)
            return;
        for (int64_t y = lo + group; y < hi; y += teams)
            for (int64_t x = 0; x < blocks; ++x) {
                if (y > lo)
                    done[y - 1].wait_for(turn * blocks + x + 1);
                Lookahead<T> ahead;
                if (x + 1 < blocks)
                    ahead.add(w.step(0), share(part(0, x + 1, y).cells, shared_axis, member, team));
                for (int64_t n = 0; n < steps; ++n) {
                    const Part all = part(n, x, y);
                    const Wavefield<T> &now = w.step(n);
                    if (advance_early(now, all, job.active.rows(first_step + n), shared_axis, member, team))
                        barriers[group].wait(team);
                    Step<T>(now, *w.stepper, job, first_step + n)
                        .compute(share(all, shared_axis, member, team, p), ahead);
                    barriers[group].wait(team);
                }
                if (member == 0)
                    done[y].reach(turn * blocks + x + 1);
            }
    }

  private:
    int64_t steps, skew, p;
    int shared_axis; // along which a team's members share a block
    int64_t team, teams, block, blocks;
    std::vector<Part> inner;   // [step]
    std::vector<int64_t> edge; // of tiles in y at step 0
    std::vector<Progress> done;
    std::vector<Barrier> barriers;

    // Cells of an axis that tiles must cover at step 0 so that, moving back, they cover all cells of the last one.
    int64_t extent(int axis) const {
        int64_t end = 0;
        for (int64_t n = 0; n < steps; ++n)
            end = std::max(end, inner[n].cells.hi[axis] + n * skew);
        return std::max<int64_t>(end - inner[0].cells.lo[axis], 1);
    }

    // Tiles of about a width, of equal work each, a whole number for every team.
    void cut_tiles(int64_t width) {
        width = std::max<int64_t>(width, 1);
        const int64_t lo = inner[0].cells.lo[1], cells = extent(1), wanted = (cells + width - 1) / width;
        const int64_t count = std::min((wanted + teams - 1) / teams * teams, cells);
        auto work = [&](int64_t y) {
            int64_t rows = 0;
            for (int64_t n = 0; n < steps; ++n)
                rows += std::clamp(y - n * skew, inner[n].cells.lo[1], inner[n].cells.hi[1]) - inner[n].cells.lo[1];
            return rows;
        };
        edge.assign(1, lo);
        for (int64_t t = 1, y = lo; t < count; ++t) {
            while (y < lo + cells && work(y) * count < work(lo + cells) * t)
                ++y;
            edge.push_back(y);
        }
        edge.push_back(lo + cells);
    }

    // Cells and half points of block x, tile y at step n.
    Part part(int64_t n, int64_t x, int64_t y) const {
        Part part = inner[n];
        const int64_t origin = inner[0].cells.lo[0] - n * skew;
        restrict_to(part, 0, x ? origin + x * block : -beyond, x + 1 < blocks ? origin + (x + 1) * block : beyond, p);
        restrict_to(part, 1, y ? edge[y] - n * skew : -beyond, y + 1 < tiles() ? edge[y + 1] - n * skew : beyond, p);
        return part;
    }
};

// Many steps of a whole wavefield in diamonds. Row r of diamonds takes the steps from r H on, 2 H of them: H in which a
// diamond widens, beside those of the row before, which narrow, then H in which it narrows itself. Siblings, the
// diamonds of a row, never touch: `gap` on either side of the border between them belongs to the row before until it
// ends, so that half points have one owner whichever sibling is computed first.
//
// Where ranks meet in y, a diamond lies astride the cut, and each of them computes its half of it. A half needs the
// rows next to the cut of the other one, of every step. They come in a message a block, while the next one is computed:
// step n of a half lies so far back that it needs what the neighbour computed `ahead` blocks ago.
template <class T> class Diamonds {
  public:
    Diamonds(const Wavefield<T> &w, int64_t steps, int64_t reach, const Tiling &tiling, Faces<T> *faces)
        : all(inside(w, 0)), nx(w.n[0]), ny(w.n[1]), steps(steps), p(half_reach(w)), gap(p),
          skew(std::max(reach, 2 * p)), height(std::min(tiling.depth, std::max<int64_t>(steps, 1))), level(w.level),
          faces(faces) {
        require_room(w);
        const std::vector<int64_t> at = borders(w);
        const int64_t half = skew * height, block = std::max<int64_t>(tiling.block, 1);
        std::vector<Tile> row, before;
        int64_t latest[2] = {-1, -1}; // halves
        for (int64_t r = -1; r * height < steps; ++r) {
            row.clear();
            for (std::size_t i = 0; i < at.size(); ++i) {
                Tile tile{r, int64_t(i), at[i], at[i], -1, block, skew, 0, 0, {}, -1};
                if (r % 2 == 0) { // between two borders
                    if (i + 1 == at.size())
                        break;
                    tile.lo += half, tile.hi = at[i + 1] - half;
                } else if (faces && w.cut[1][0] && at[i] == 0)
                    tile.side = 0;
                else if (faces && w.cut[1][1] && at[i] == ny)
                    tile.side = 1;
                if (tile.side >= 0) {
                    tile.block = std::max<int64_t>(block / ahead, 1);
                    tile.shift = ahead * tile.block + skew;
                }
                tile.blocks = (nx + (2 * height - 1) * tile.shift + tile.block - 1) / tile.block;
                if (tile.lo - half < ny && tile.hi + half > 0)
                    row.push_back(tile);
            }
            // Halves first, on all ranks in the same order of cuts.
            std::stable_sort(row.begin(), row.end(), [&](const Tile &a, const Tile &b) { return turn(a) < turn(b); });
            for (Tile &tile : row) {
                for (const Tile &other : before)
                    if (const int64_t i = tile.place - other.place; i == 0 || i == (r % 2 ? 1 : -1))
                        tile.parents.push_back(other.number);
                tile.number = int64_t(tiles.size());
                if (tile.side >= 0) {
                    tile.earlier = std::exchange(latest[tile.side], tile.number);
                    halves.push_back(tile.number);
                }
                tiles.push_back(tile);
            }
            before = row = {tiles.end() - int64_t(row.size()), tiles.end()};
        }
        done = std::vector<Progress>(tiles.size());
    }

    // By every thread. Halves are the first one's: only it may call MPI.
    void run(Levels<T> &w, const Job<T> &job) {
        if (faces && omp_get_thread_num() == 0) {
            Messenger(*this, w, job, omp_get_num_threads() == 1 ? most_begun : 1).run();
            return;
        }
        while (const Tile *tile = take())
            for (int64_t x = 0; x <= tile->blocks; ++x) {
                await_parents(*tile, x);
                compute(w, job, *tile, x);
            }
    }

    // Numbers of the longest message.
    int64_t longest_message() const {
        int64_t planes = 0;
        for (int64_t number : halves)
            planes = std::max({planes, (2 * height + 1) * tiles[number].block, tiles[number].shift});
        return planes * std::max(faces->plane_numbers(0), faces->plane_numbers(1));
    }

  private:
    static constexpr int64_t ahead = Faces<T>::ahead, none = -2, ended = std::numeric_limits<int64_t>::max();
    static constexpr std::size_t most_begun = 4; // tiles of a rank with one thread, beside halves

    struct Tile {
        int64_t row, place;   // in the row
        int64_t lo, hi;       // in y, where it is narrowest
        int side;             // of the cut that it lies astride; -1: of none
        int64_t block, shift; // planes; a step lies `shift` further back than the one before
        int64_t blocks, number;
        std::vector<int64_t> parents;
        int64_t earlier; // of the same side
    };

    Part all;
    int64_t nx, ny, steps, p, gap, skew, height;
    int level; // of step 0
    Faces<T> *faces;
    std::vector<Tile> tiles;
    std::vector<int64_t> halves; // numbers of tiles
    std::vector<Progress> done;
    std::atomic<int64_t> next{0};

    // The next tile that is no half; null: there are no more.
    const Tile *take() {
        for (int64_t t = next++; t < int64_t(tiles.size()); t = next++)
            if (tiles[t].side < 0)
                return &tiles[t];
        return nullptr;
    }

    int64_t first_step(const Tile &tile) const { return std::max<int64_t>(tile.row * height, 0); }
    int64_t last_step(const Tile &tile) const { return std::min((tile.row + 2) * height, steps); }

    // Blocks of a tile, and then what says that it has ended. Of a half what comes first, block -1, is a message, and
    // what comes last are rows from beyond the cut: the tiles beside it, which then narrow, reach over it in their next
    // step.
    int64_t first_block(const Tile &tile) const { return tile.side < 0 ? 0 : -1; }
    int64_t last_block(const Tile &tile) const { return tile.side < 0 ? tile.blocks : tile.blocks + ahead; }

    void compute(Levels<T> &w, const Job<T> &job, const Tile &tile, int64_t x) {
        const int64_t from = first_step(tile), to = last_step(tile);
        const bool half = tile.side >= 0, failed = faces && faces->failed();
        const T *come = half && !failed ? receive(tile, from, to, x) : nullptr;
        if (0 <= x && x < tile.blocks && !failed) {
            Lookahead<T> rows;
            if (x + 1 < tile.blocks)
                look_ahead(w, tile, x + 1, from, std::min(to, (tile.row + 1) * height), rows);
            for (int64_t n = from; n < to; ++n) {
                const Part cells = part(tile, n, x);
                const Wavefield<T> &now = w.step(n);
                if (come)
                    come = unpack(now, tile, n, message_of(x), come);
                advance_early(now, cells, job.active.rows(n), 1, 0, 1);
                Step<T>(now, *w.stepper, job, n).compute(share(cells, 1, 0, 1, p), rows);
            }
        } else if (come)
            for (int64_t n = from; n < to; ++n)
                come += numbers(tile, n, message_of(x));
        if (come)
            unpack(w.step(to), tile, to, message_of(x), come);
        if (half && x < tile.blocks && !failed)
            send(w, tile, from, to, x);
        if (0 <= x && (x < tile.blocks || x == last_block(tile)))
            done[tile.number].reach(std::min(x, tile.blocks) + 1);
    }

    // The first thread of a rank with neighbours. Halves come first, since the neighbours need them. Where a face is
    // late by more than a block of another tile takes, it goes on with another tile: sooner would make the neighbour,
    // in turn, wait for that block, and so on, and caches would be filled again for each.
    class Messenger {
      public:
        Messenger(Diamonds &d, Levels<T> &w, const Job<T> &job, std::size_t most) : d(d), w(w), job(job), most(most) {
            for (int64_t number : d.halves)
                queue[d.tiles[number].side].push_back(number);
            for (int side : {0, 1})
                half[side] = begin_half(side);
        }

        void run() {
            while (!d.faces->failed() && (half[0].tile || half[1].tile || !others.empty() || !taken_all)) {
                if (go_on(half[d.faces->first]) || go_on(half[1 - d.faces->first]))
                    continue;
                if (under_way() && wait(patience))
                    continue;
                const double begin = omp_get_wtime();
                if (go_on_with_others())
                    patience = omp_get_wtime() - begin;
                else if (!wait(omp_get_num_threads() > 1 ? at_once : forever))
                    sched_yield();
            }
            if (d.faces->failed()) // others must not wait
                for (Progress &progress : d.done)
                    progress.reach(ended);
        }

      private:
        struct Begun {
            const Tile *tile = nullptr;
            int64_t x = 0;
        };

        Diamonds &d;
        Levels<T> &w;
        const Job<T> &job;
        const std::size_t most; // tiles that are begun at the same time, beside halves
        std::vector<int64_t> queue[2];
        std::size_t begun[2] = {0, 0};
        Begun half[2];
        std::vector<Begun> others;
        bool taken_all = false;
        double patience = 0;
        static constexpr double at_once = 1e-4, forever = std::numeric_limits<double>::infinity(); // s

        // Whether some blocks of a half have been computed, of which its next ones find much in the cache.
        bool under_way() const {
            for (const Begun &at : half)
                if (at.tile && at.x > 0 && at.x < at.tile->blocks)
                    return true;
            return false;
        }

        Begun begin_half(int side) {
            if (begun[side] == queue[side].size())
                return {};
            const Tile &tile = d.tiles[queue[side][begun[side]++]];
            return {&tile, d.first_block(tile)};
        }

        // A half does not follow a tile of the same thread block by block: it begins when that one has ended.
        bool ready(const Begun &at) const {
            const bool begins = at.tile->side >= 0 && at.x < 0 && omp_get_num_threads() == 1;
            return d.parents_ready(*at.tile, begins ? at.tile->blocks - 1 : at.x) &&
                   (at.tile->side < 0 || d.has_come(*at.tile, at.x));
        }

        // Compute what is ready of a half; whether any was.
        bool go_on(Begun &at) {
            bool any = false;
            while (at.tile && !d.faces->failed() && ready(at)) {
                d.compute(w, job, *at.tile, at.x);
                any = true;
                if (at.x++ == d.last_block(*at.tile))
                    at = begin_half(at.tile->side);
            }
            return any;
        }

        // A block of a tile that is no half.
        bool go_on_with_others() {
            for (std::size_t i = 0; i <= others.size(); ++i) {
                if (i == others.size()) {
                    if (taken_all || others.size() >= most)
                        return false;
                    const Tile *tile = d.take();
                    taken_all = !tile;
                    if (!tile)
                        return false;
                    others.push_back({tile, 0});
                }
                Begun &at = others[i];
                if (ready(at)) {
                    d.compute(w, job, *at.tile, at.x);
                    if (at.x++ == d.last_block(*at.tile))
                        others.erase(others.begin() + i);
                    return true;
                }
            }
            return false;
        }

        // Until a message that a half needs has come, or for so many seconds. Whether one was under way, and has come.
        bool wait(double most) {
            const std::array<int64_t, 2> messages = awaited();
            if (messages[0] == none && messages[1] == none)
                return false;
            d.faces->wait(messages, most);
            return awaited() != messages;
        }

        std::array<int64_t, 2> awaited() const {
            std::array<int64_t, 2> messages{none, none};
            for (int side : {0, 1})
                if (const Begun &at = half[side]; at.tile && !d.has_come(*at.tile, at.x))
                    messages[side] = d.message_of(at.x);
            return messages;
        }
    };

    // Places in y between which tiles of even rows lie, and around which those of odd ones: a cut side is one of them.
    std::vector<int64_t> borders(const Wavefield<T> &w) const {
        const int64_t width = 2 * skew * height;
        std::vector<int64_t> at;
        if (w.cut[1][0] && w.cut[1][1]) {
            const int64_t count = std::max<int64_t>(ny / width, 1);
            for (int64_t i = 0; i <= count; ++i)
                at.push_back(ny * i / count);
            return at;
        }
        int64_t y = w.cut[1][0] ? 0 : w.cut[1][1] ? ny - (ny + width - 1) / width * width : -width / 2;
        for (at.push_back(y); y < ny; at.push_back(y))
            y += width;
        return at;
    }

    // Ranks at a cut have tiles of the same height: where it does not fit one of them, that is no choice.
    void require_room(const Wavefield<T> &w) const {
        if (w.cut[1][0] && w.cut[1][1] && ny < 2 * skew * height)
            throw std::invalid_argument("a rank between two others has too few rows for diamonds of this height");
    }

    int turn(const Tile &tile) const { return tile.side < 0 ? 2 : tile.side == faces->first ? 0 : 1; }

    // The first plane of block x at the q-th step of a tile; blocks before the first one end where it begins.
    int64_t plane(const Tile &tile, int64_t x, int64_t q) const {
        return x < 0 ? 0 : x >= tile.blocks ? nx : std::clamp<int64_t>(x * tile.block - q * tile.shift, 0, nx);
    }

    // Calls of each parent what must be there of it before block x is computed: all that it reads of the step before.
    // Of halves the one of the same side before must have ended, whose messages have the same numbers.
    template <class Call> bool for_each_needed(const Tile &tile, int64_t x, Call call) const {
        if (x >= tile.blocks)
            return true;
        for (int64_t number : tile.parents) {
            const Tile &of = tiles[number];
            int64_t planes = 0;
            for (int64_t q : {int64_t(0), height}) // what the first and the last step that both of them take need
                planes = std::max(planes, (x + 1) * tile.block - q * tile.shift + (q ? skew : tile.shift) +
                                              (height + q - 1) * of.shift);
            // Rows beyond a cut come later.
            const int64_t blocks = (planes + of.block - 1) / of.block + (of.side >= 0 ? ahead : 0);
            if (!call(number, blocks >= of.blocks ? of.blocks + 1 : blocks))
                return false;
        }
        return tile.earlier < 0 || call(tile.earlier, tiles[tile.earlier].blocks + 1);
    }

    void await_parents(const Tile &tile, int64_t x) const {
        for_each_needed(tile, x, [&](int64_t number, int64_t blocks) {
            done[number].wait_for(blocks);
            return true;
        });
    }

    bool parents_ready(const Tile &tile, int64_t x) const {
        return for_each_needed(tile, x,
                               [&](int64_t number, int64_t blocks) { return done[number].has_reached(blocks); });
    }

    // The message that block x needs: those before the first block are one.
    int64_t message_of(int64_t x) const { return x < ahead ? -1 : x - ahead; }

    // Planes of level n in message m: those that its block computed in step n - 1.
    int64_t first(const Tile &tile, int64_t n, int64_t m) const { return plane(tile, m, n - 1 - tile.row * height); }
    int64_t last(const Tile &tile, int64_t n, int64_t m) const {
        const int64_t q = n - 1 - tile.row * height;
        return m < 0 ? std::clamp<int64_t>(-q * tile.shift, 0, nx) : plane(tile, m + 1, q);
    }
    int64_t numbers(const Tile &tile, int64_t n, int64_t m) const {
        return std::max<int64_t>(last(tile, n, m) - first(tile, n, m), 0) * faces->plane_numbers((level + n) % 2);
    }

    void send(const Levels<T> &w, const Tile &tile, int64_t from, int64_t to, int64_t m) {
        T *leaving = faces->leaving(tile.side, m), *end = leaving;
        for (int64_t n = from; n <= to; ++n)
            if (first(tile, n, m) < last(tile, n, m))
                end = faces->pack(w.step(n), tile.side, first(tile, n, m), last(tile, n, m), end);
        if (end > leaving && !faces->failed())
            faces->trade(tile.side, m, end - leaving);
    }

    // Whether a message comes for block x: not where nothing does, or what came was used by an earlier block.
    bool expects(const Tile &tile, int64_t from, int64_t to, int64_t x) const {
        const int64_t m = message_of(x);
        if (x < 0 || (m < 0 && x > 0))
            return false;
        int64_t count = 0;
        for (int64_t n = from; n <= to; ++n)
            count += numbers(tile, n, m);
        return count > 0;
    }

    bool has_come(const Tile &tile, int64_t x) const {
        return !expects(tile, first_step(tile), last_step(tile), x) || faces->arrived(tile.side, message_of(x));
    }

    // What has come for block x; null: nothing.
    const T *receive(const Tile &tile, int64_t from, int64_t to, int64_t x) const {
        return expects(tile, from, to, x) ? faces->come(tile.side, message_of(x)) : nullptr;
    }

    // Fill the rows beyond the cut with level n of a message; where its next level begins.
    const T *unpack(const Wavefield<T> &now, const Tile &tile, int64_t n, int64_t m, const T *come) {
        if (first(tile, n, m) >= last(tile, n, m))
            return come;
        return faces->unpack(now, tile.side, first(tile, n, m), last(tile, n, m), come);
    }

    // Cells and half points of block x at step n.
    Part part(const Tile &tile, int64_t n, int64_t x) const {
        const int64_t q = n - tile.row * height, back = q * tile.shift;
        const bool widens = q < height;
        const int64_t half = widens ? skew * (q + 1) - gap : skew * (2 * height - 1 - q) + gap;
        const int64_t lo = tile.lo - half, hi = tile.hi + half;
        Part part = all;
        restrict_to(part, 0, x ? x * tile.block - back : -beyond,
                    x + 1 < tile.blocks ? (x + 1) * tile.block - back : beyond, p);
        part.cells.lo[1] = std::clamp<int64_t>(lo, 0, ny);
        part.cells.hi[1] = std::clamp<int64_t>(hi, 0, ny);
        if (part.cells.lo[1] == part.cells.hi[1]) {
            for (int axis = 0; axis < 3; ++axis)
                part.halves.hi[axis] = part.halves.lo[axis];
            return part;
        }
        // What is computed first takes the half points that it needs: a diamond that narrows before its neighbours.
        if (lo > 0)
            part.halves.lo[1] = widens ? lo + p - 1 : lo - p;
        if (hi < ny)
            part.halves.hi[1] = widens ? hi - p : hi + p - 1;
        return part;
    }

    // The rows of a block that no step of the tile before one that needs them has touched.
    void look_ahead(const Levels<T> &w, const Tile &tile, int64_t x, int64_t from, int64_t to,
                    Lookahead<T> &rows) const {
        Box before{};
        for (int64_t n = from; n < to; ++n) {
            Box box = part(tile, n, x).cells, low = box, high = box;
            if (n > from) {
                low.hi[1] = std::min(before.lo[1], box.hi[1]);
                high.lo[1] = std::max(before.hi[1], box.lo[1]);
                rows.add(w.step(n), high);
            }
            rows.add(w.step(n), low);
            before = box;
        }
    }
};

// The axis along which threads share a box: planes go to the threads that touched them first.
template <class T> int axis_to_share(const Wavefield<T> &w, const Box &cells, int64_t threads) {
    return !w.has_y || cells.hi[0] - cells.lo[0] >= 2 * threads ? 0 : 1;
}

// One step of a part by all threads.
template <class T>
void step_part(const Wavefield<T> &w, RowStepper<T> &stepper, const Job<T> &job, int64_t n, const Part &part) {
    const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    const int cut = axis_to_share(w, part.cells, threads);
    if (advance_early(w, part, job.active.rows(n), cut, me, threads)) {
#pragma omp barrier
    }
    Lookahead<T> none;
    Step<T>(w, stepper, job, n).compute(share(part, cut, me, threads, half_reach(w)), none);
}

// One step of parts that touch one another, by all threads: first all their half points, then their cells. Rows leave
// the half points alone, which those of other parts need too.
template <class T>
void step_parts(const Wavefield<T> &w, RowStepper<T> &stepper, const Job<T> &job, int64_t n,
                const std::vector<Part> &parts) {
    const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    bool halves = false;
    for (const Part &part : parts)
        for (int axis = 0; axis < 3; ++axis) {
            Box box = part.cells;
            box.lo[axis] = part.halves.lo[axis];
            box.hi[axis] = part.halves.hi[axis];
            if (w.physics->has_half_points(axis, box)) {
                w.physics->advance_half_points(w, axis, box, job.active.rows(n), me, threads);
                halves = true;
            }
        }
    if (halves) {
#pragma omp barrier
    }
    const Step<T> step(w, stepper, job, n);
    for (const Part &part : parts) {
        Lookahead<T> none;
        step.compute({share(part.cells, axis_to_share(w, part.cells, threads), me, threads), {}}, none);
    }
}

} // namespace

template <class T> int64_t skew(const Wavefield<T> &w, const Job<T> &job) {
    const bool lines_reach = job.receivers && (w.cut[2][0] || w.cut[2][1]);
    return std::max<int64_t>({w.physics->reach(w), w.exchanged, lines_reach ? job.receivers->reach : 0});
}

template <class T>
void advance(Wavefield<T> &w, int64_t steps, const Job<T> &job, const Tiling &tiling, Faces<T> *faces) {
    if (w.has_y && tiling.tile == 0 && tiling.depth > 1) {
        Diamonds<T> diamonds(w, steps, skew(w, job), tiling, faces);
        if (faces)
            faces->require(diamonds.longest_message());
        in_team([&] {
            Levels<T> levels(w);
            diamonds.run(levels, job);
        });
        if (faces)
            faces->rethrow();
        w.level = (w.level + steps) % 2;
        return;
    }
    if (faces)
        throw std::invalid_argument("only diamonds are computed across cuts");
    // As many sweeps as the depth asks for, as equal as they can be: some of `most` steps, then some of one less.
    const int64_t sweeps = (steps + tiling.depth - 1) / std::max<int64_t>(tiling.depth, 1);
    const int64_t most = (steps + sweeps - 1) / std::max<int64_t>(sweeps, 1), of_most = steps - sweeps * (most - 1);
    std::unique_ptr<Sweep<T>> plan[2]; // of most steps, of one less
    in_team([&] {
#pragma omp single
        for (int64_t less = 0; less < 2; ++less)
            if (most - less > 1)
                plan[less] = std::make_unique<Sweep<T>>(w, most - less, skew(w, job), tiling, omp_get_num_threads());
        Levels<T> levels(w);
        for (int64_t sweep = 0, n = 0; sweep < sweeps; ++sweep) {
            const int64_t less = sweep < of_most ? 0 : 1, depth = most - less, turn = less ? sweep - of_most : sweep;
            if (depth > 1)
                plan[less]->run(levels, job, n, turn, 0, plan[less]->tiles());
            else
                step_part(levels.step(0), *levels.stepper, job, n, inside(w, 0));
#pragma omp barrier
            n += depth;
            if (depth % 2)
                levels.swap();
        }
    });
    w.level = (w.level + steps) % 2;
}

template <class T>
void advance_inside(const Wavefield<T> &w, int64_t n, int64_t steps, const Job<T> &job, const Tiling &tiling,
                    int64_t part, int64_t parts) {
    const int64_t s = skew(w, job);
    if (steps == 1) {
        Part piece = inside(w, s);
        const int64_t lo = piece.cells.lo[0], cells = piece.cells.hi[0] - lo, p = half_reach(w);
        restrict_to(piece, 0, part ? lo + cells * part / parts : -beyond,
                    part + 1 < parts ? lo + cells * (part + 1) / parts : beyond, p);
        in_team([&] {
            Levels<T> levels(w);
            step_part(levels.step(n), *levels.stepper, job, n, piece);
        });
        return;
    }
    std::unique_ptr<Sweep<T>> plan;
    in_team([&] {
#pragma omp single
        plan = std::make_unique<Sweep<T>>(w, steps, s, tiling, omp_get_num_threads());
        Levels<T> levels(w);
        if (n % 2)
            levels.swap();
        plan->run(levels, job, n, 0, plan->tiles() * part / parts, plan->tiles() * (part + 1) / parts);
    });
}

template <class T> void advance_rim(const Wavefield<T> &w, int64_t n, const Job<T> &job, int64_t outer, int64_t inner) {
    const std::vector<Part> parts = around(inside(w, outer), inside(w, inner));
    in_team([&] {
        Levels<T> levels(w);
        step_parts(levels.step(n), *levels.stepper, job, n, parts);
    });
}

#define FATHOMETER_INSTANTIATE(T)                                                                                      \
    template int64_t skew<T>(const Wavefield<T> &, const Job<T> &);                                                    \
    template void advance<T>(Wavefield<T> &, int64_t, const Job<T> &, const Tiling &, Faces<T> *);                     \
    template void advance_inside<T>(const Wavefield<T> &, int64_t, int64_t, const Job<T> &, const Tiling &, int64_t,   \
                                    int64_t);                                                                          \
    template void advance_rim<T>(const Wavefield<T> &, int64_t, const Job<T> &, int64_t, int64_t);
FATHOMETER_INSTANTIATE(float)
FATHOMETER_INSTANTIATE(double)

} // namespace fathometer
