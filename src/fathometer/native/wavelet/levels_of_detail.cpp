#include "levels_of_detail.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "core/denormals.hpp"

namespace fathometer::wavelet {

namespace {

constexpr uint32_t magnitude_bits = 0x7fffffff, infinite = 0x7f800000;

uint32_t magnitude(float value) { return std::bit_cast<uint32_t>(value) & magnitude_bits; } // in order of size

// f(place in an array of the cells of `level`, place in scan order, how many) for each row of coefficients.
template <class F> void in_scan_order(const Block &block, int level, F f) {
    const Index3 whole = block.at(level);
    Index3 inner{0, 0, 0};
    int64_t place = 0;
    for (int l = block.levels(); l >= level; --l) {
        const Index3 outer = block.at(l);
        for (int64_t x = 0; x < outer[0]; ++x)
            for (int64_t y = 0; y < outer[1]; ++y) {
                const int64_t z = x < inner[0] && y < inner[1] ? inner[2] : 0, count = outer[2] - z;
                f((x * whole[1] + y) * whole[2] + z, place, count);
                place += count;
            }
        inner = outer;
    }
}

// Of a list: sums for each level, whose last places are the block's sizes from coarse to fine.
struct Checks {
    Checks(const Block &block, int64_t first_seed) {
        for (int l = block.levels(); l >= 0; --l)
            ends.push_back(block.size(l));
        for (std::size_t r = 0; r < ends.size(); ++r)
            sums.push_back({uint64_t(first_seed) * ends.size() + r + 1, 0});
    }
    void add(int64_t place, float value) {
        while (place >= ends[at])
            ++at;
        Sum &sum = sums[at];
        sum.first += std::bit_cast<uint32_t>(value) ^ uint32_t(place) * 0x9e3779b1u;
        sum.second += sum.first;
    }
    uint64_t check(int level) const { return sums[level].second * 0x9e3779b97f4a7c15u + sums[level].first; }

    struct Sum {
        uint64_t first, second;
    };
    std::vector<int64_t> ends;
    std::vector<Sum> sums;
    std::size_t at = 0;
};

// The largest coefficients behind the corner: how large those of each share are at least, and how many of that size.
struct Threshold {
    uint32_t size;
    int64_t equal, seen = 0; // coefficients of this size that the share takes, and met so far
};

std::vector<Threshold> thresholds(const std::vector<float> &scan, int64_t corner, const std::vector<List> &lists,
                                  std::vector<uint32_t> &some) {
    constexpr int shift = 20, buckets = 1 << (31 - shift);
    std::vector<int64_t> count(buckets);
    const int64_t cells = int64_t(scan.size());
    for (int64_t p = corner; p < cells; ++p)
        ++count[magnitude(scan[p]) >> shift];
    std::vector<Threshold> found;
    int64_t wanted = 0, above = 0; // coefficients of this share and those before; of larger buckets
    int bucket = buckets - 1;
    for (const List &list : lists) {
        if (list.rest)
            break;
        wanted += list.values;
        while (bucket > 0 && above + count[bucket] < wanted)
            above += count[bucket--];
        some.clear();
        for (int64_t p = corner; p < cells; ++p)
            if (const uint32_t size = magnitude(scan[p]); int(size >> shift) == bucket)
                some.push_back(size);
        const int64_t rank = wanted - above; // within the bucket, from 1
        if (rank <= 0 || some.empty()) {
            found.push_back({magnitude_bits, 0});
            continue;
        }
        std::nth_element(some.begin(), some.begin() + (rank - 1), some.end(), std::greater<>());
        const uint32_t size = some[rank - 1];
        const int64_t larger = std::count_if(some.begin(), some.end(), [&](uint32_t other) { return other > size; });
        found.push_back({size, rank - larger});
    }
    return found;
}

// Places of one list being coded; bits from the lowest of a byte on.
struct PlacesWriter {
    uint8_t *high, *low;
    int low_bits;
    int64_t count = 0;
    uint64_t waiting = 0;
    int bits = 0;

    void add(int64_t place) {
        const int64_t bit = (place >> low_bits) + count++;
        high[bit >> 3] |= uint8_t(1 << (bit & 7));
        waiting |= uint64_t(place & ((int64_t(1) << low_bits) - 1)) << bits;
        for (bits += low_bits; bits >= 8; bits -= 8, waiting >>= 8)
            *low++ = uint8_t(waiting);
    }
    void end() {
        if (bits)
            *low = uint8_t(waiting);
    }
};

// The same being read; `next` is -1 behind the last bit that is there.
struct PlacesReader {
    const uint8_t *high, *low;
    int64_t high_bytes, low_bytes;
    int low_bits;
    int64_t bit = 0, count = 0;
    uint64_t waiting = 0;
    int bits = 0;

    int64_t next() {
        while (bit < 8 * high_bytes && !(high[bit >> 3] >> (bit & 7) & 1))
            bit += (bit & 7) == 0 && high[bit >> 3] == 0 ? 8 : 1;
        while (bits < low_bits && low_bytes > 0) {
            waiting |= uint64_t(*low++) << bits;
            bits += 8;
            --low_bytes;
        }
        if (bit >= 8 * high_bytes || bits < low_bits)
            return -1;
        const int64_t place = ((bit++ - count++) << low_bits) | int64_t(waiting & ((uint64_t(1) << low_bits) - 1));
        waiting >>= low_bits;
        bits -= low_bits;
        return place;
    }
};

// The lists of the n-th block.
void write_lists(const Block &block, int64_t seed, const std::vector<float> &scan, const std::vector<List> &lists,
                 const std::vector<Written> &written, int64_t n, uint64_t *checks, std::vector<uint32_t> &some) {
    const int64_t corner = block.size(block.levels()), cells = int64_t(scan.size());
    const std::size_t shares = lists.size();
    auto least = thresholds(scan, corner, lists, some);
    std::vector<PlacesWriter> places;
    std::vector<Checks> sums;
    std::vector<float *> next;
    for (std::size_t s = 0; s < shares; ++s) {
        const auto &[values, high, low, begins] = written[s];
        next.push_back(values + begins[0][n]);
        places.push_back({high + begins[1][n], low + begins[2][n], lists[s].low_bits});
        sums.emplace_back(block, seed * int64_t(shares) + int64_t(s));
    }
    for (int64_t p = 0; p < corner; ++p)
        sums[0].add(p, scan[p]);
    const bool rest = lists.back().rest;
    const uint32_t smallest = least.empty() ? magnitude_bits : least.back().size;
    for (int64_t p = corner; p < cells; ++p) {
        const uint32_t size = magnitude(scan[p]);
        std::size_t s = least.size();
        if (size >= smallest)
            for (std::size_t k = least.size(); k-- > 0;) {
                Threshold &bound = least[k];
                if (size > bound.size || (size == bound.size && bound.seen++ < bound.equal))
                    s = k;
            }
        if (s < least.size())
            places[s].add(p);
        else if (!rest)
            continue;
        *next[s]++ = scan[p];
        sums[s].add(p, scan[p]);
    }
    for (std::size_t s = 0; s < shares; ++s) {
        places[s].end();
        for (int r = 0; r <= block.levels(); ++r)
            *checks++ = sums[s].check(r);
    }
}

// Rows of a box of cells of one array to that of another, both contiguous: f(row, row, count).
template <class F> void rows(const Index3 &box, int64_t a, const Index3 &in_a, int64_t b, const Index3 &in_b, F f) {
    for (int64_t x = 0; x < box[0]; ++x)
        for (int64_t y = 0; y < box[1]; ++y)
            f(a + (x * in_a[1] + y) * in_a[2], b + (x * in_b[1] + y) * in_b[2], box[2]);
}

int64_t place_in(const Index3 &at, const Index3 &cells) { return (at[0] * cells[1] + at[1]) * cells[2] + at[2]; }

// The cell of a level at which a block begins.
Index3 begin_of(const Cut &cut, const Index3 &index, int level) {
    Index3 begin;
    for (int axis = 0; axis < 3; ++axis)
        begin[axis] = (index[axis] * cut.edge[axis]) >> std::min<int64_t>(level, cut.halvings[axis]);
    return begin;
}

Index3 minus(const Index3 &a, const Index3 &b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

} // namespace

Index3 Cut::blocks() const {
    return {(cells[0] - 1) / edge[0] + 1, (cells[1] - 1) / edge[1] + 1, (cells[2] - 1) / edge[2] + 1};
}

Block Cut::block(const Index3 &index) const {
    Block block{{}, halvings};
    for (int axis = 0; axis < 3; ++axis)
        block.cells[axis] = std::min(edge[axis], cells[axis] - index[axis] * edge[axis]);
    return block;
}

int64_t Cut::number(const Index3 &index) const {
    const Index3 all = blocks();
    return step * all[0] * all[1] * all[2] + place_in(index, all);
}

Index3 index_of(int64_t n, const Index3 &first, const Index3 &count) {
    return {first[0] + n / (count[1] * count[2]), first[1] + n / count[2] % count[1], first[2] + n % count[2]};
}

Index3 cells_of(const Cut &cut, const Index3 &first, const Index3 &count, int level) {
    const Index3 last{first[0] + count[0] - 1, first[1] + count[1] - 1, first[2] + count[2] - 1};
    const Index3 more = cut.block(last).at(level), start = begin_of(cut, first, level),
                 end = begin_of(cut, last, level);
    return {end[0] + more[0] - start[0], end[1] + more[1] - start[1], end[2] + more[2] - start[2]};
}

std::vector<List> lists_of(const Block &block, const std::vector<int64_t> &shares) {
    const int64_t cells = block.size(0);
    int64_t before = block.size(block.levels());
    std::vector<List> lists;
    for (const int64_t share : shares) {
        const int64_t kept = std::max(before, (cells - 1) / share + 1), count = kept - before;
        before = kept;
        const bool rest = share == 1;
        if (rest || !count) {
            lists.push_back({count, 0, 0, 0, rest});
            continue;
        }
        const int low_bits = int(std::bit_width(uint64_t(cells / count))) - 1;
        const int64_t high_bits = count + ((cells - 1) >> low_bits) + 1;
        lists.push_back({count, low_bits, (high_bits + 7) / 8, (count * low_bits + 7) / 8, rest});
    }
    return lists;
}

int64_t encode(const Cut &cut, const Index3 &first, const Index3 &count, const float *values, float *corner,
               const std::vector<Written> &shares, uint64_t *checks) {
    const int64_t blocks = count[0] * count[1] * count[2];
    const int levels = cut.levels();
    const int64_t of_block = int64_t(shares.size()) * (levels + 1); // checks
    const Index3 in_values = cells_of(cut, first, count, 0), in_corner = cells_of(cut, first, count, levels);
    int64_t bad = blocks;
#pragma omp parallel reduction(min : bad)
    {
        const FlushDenormals flush;
        std::vector<float> own, scan, lines;
        std::vector<uint32_t> some;
#pragma omp for schedule(dynamic)
        for (int64_t n = 0; n < blocks; ++n) {
            const Index3 index = index_of(n, first, count);
            const Block block = cut.block(index);
            const int64_t from = place_in(minus(begin_of(cut, index, 0), begin_of(cut, first, 0)), in_values);
            own.resize(std::size_t(block.size(0)));
            rows(block.cells, 0, block.cells, from, in_values,
                 [&](int64_t to, int64_t at, int64_t k) { std::copy_n(values + at, k, own.data() + to); });
            forward(block, own.data(), lines);
            uint32_t largest = 0;
            for (const float value : own)
                largest = std::max(largest, magnitude(value));
            if (largest >= infinite) {
                bad = std::min(bad, n);
                continue;
            }
            // The corner goes to the file as values, so that what is read is this again.
            const float scale = block.scale(levels);
            const int64_t to = place_in(minus(begin_of(cut, index, levels), begin_of(cut, first, levels)), in_corner);
            rows(block.at(levels), 0, block.cells, to, in_corner, [&](int64_t in_own, int64_t at, int64_t k) {
                for (int64_t i = 0; i < k; ++i) {
                    corner[at + i] = own[in_own + i] / scale;
                    own[in_own + i] = corner[at + i] * scale;
                }
            });
            scan.resize(own.size());
            in_scan_order(block, 0, [&](int64_t place, int64_t at, int64_t k) {
                std::copy_n(own.data() + place, k, scan.data() + at);
            });
            write_lists(block, cut.number(index), scan, lists_of(block, cut.shares), shares, n, checks + n * of_block,
                        some);
        }
    }
    return bad < blocks ? bad : -1;
}

int64_t decode(const Cut &cut, const Index3 &first, const Index3 &count, int level, const float *corner,
               const std::vector<Read> &shares, const uint64_t *checks, const Index3 &lo, const Index3 &hi,
               float *result) {
    const int64_t blocks = count[0] * count[1] * count[2];
    const int all_shares = int(cut.shares.size()), levels = cut.levels();
    const Index3 in_corner = cells_of(cut, first, count, levels), in_result = minus(hi, lo);
    int64_t bad = blocks;
#pragma omp parallel reduction(min : bad)
    {
        const FlushDenormals flush;
        std::vector<float> own, scan, lines;
        std::vector<uint8_t> taken;
#pragma omp for schedule(dynamic)
        for (int64_t n = 0; n < blocks; ++n) {
            const Index3 index = index_of(n, first, count);
            const Block block = cut.block(index);
            const auto own_lists = lists_of(block, cut.shares);
            const int64_t in_block = block.size(levels), cells = block.size(level); // of the corner; of the level
            scan.assign(std::size_t(cells), 0.0f);
            taken.assign(std::size_t(cells), 0);
            const float scale = block.scale(levels);
            int64_t at = 0;
            rows(block.at(levels), 0, in_corner,
                 place_in(minus(begin_of(cut, index, levels), begin_of(cut, first, levels)), in_corner), in_corner,
                 [&](int64_t, int64_t from, int64_t k) {
                     for (int64_t i = 0; i < k; ++i)
                         scan[at++] = corner[from + i] * scale;
                 });
            bool whole = true;
            for (std::size_t s = 0; s < shares.size(); ++s) {
                const auto &[all_values, high, low, begins] = shares[s];
                const int64_t there = begins[0][n + 1] - begins[0][n];
                const float *values = all_values + begins[0][n];
                Checks sums(block, cut.number(index) * all_shares + int64_t(s));
                for (int64_t p = 0; s == 0 && p < in_block; ++p)
                    sums.add(p, scan[p]);
                if (own_lists[s].rest) {
                    int64_t k = 0;
                    for (int64_t p = in_block; p < cells && whole; ++p)
                        if (!taken[p]) {
                            if (!(whole = k < there))
                                break;
                            scan[p] = values[k++];
                            sums.add(p, scan[p]);
                        }
                } else {
                    PlacesReader places{high + begins[1][n], low + begins[2][n], begins[1][n + 1] - begins[1][n],
                                        begins[2][n + 1] - begins[2][n], own_lists[s].low_bits};
                    int64_t before = in_block - 1;
                    for (int64_t k = 0; k < there && whole; ++k) {
                        const int64_t place = places.next();
                        if (place >= cells && level > 0)
                            break;
                        if (!(whole = place > before && place < cells && !taken[place]))
                            break;
                        before = place;
                        taken[place] = 1;
                        scan[place] = values[k];
                        sums.add(place, values[k]);
                    }
                }
                const uint64_t *wanted = checks + (n * all_shares + int64_t(s)) * (levels + 1);
                for (int r = 0; r <= levels - level; ++r)
                    whole = whole && wanted[r] == sums.check(r);
            }
            if (!whole) {
                bad = std::min(bad, n);
                continue;
            }
            own.resize(std::size_t(cells));
            in_scan_order(block, level, [&](int64_t place, int64_t from, int64_t k) {
                std::copy_n(scan.data() + from, k, own.data() + place);
            });
            inverse(block, level, own.data(), lines);
            const Index3 begin = begin_of(cut, index, level), shape = block.at(level);
            Index3 from, box, to;
            for (int axis = 0; axis < 3; ++axis) {
                const int64_t a = std::max(begin[axis], lo[axis]), b = std::min(begin[axis] + shape[axis], hi[axis]);
                from[axis] = a - begin[axis];
                to[axis] = a - lo[axis];
                box[axis] = std::max<int64_t>(0, b - a);
            }
            const float of_level = block.scale(level);
            if (box[2] > 0)
                rows(box, place_in(from, shape), shape, place_in(to, in_result), in_result,
                     [&](int64_t a, int64_t b, int64_t k) {
                         for (int64_t i = 0; i < k; ++i)
                             result[b + i] = own[a + i] / of_level;
                     });
        }
    }
    return bad < blocks ? bad : -1;
}

} // namespace fathometer::wavelet
