// Coefficients of the blocks of a volume by size: which of them each level of detail has, where they belong, and back.
//
// A block's coefficients are counted in *scan order*: the *corner*, which all halvings leave, then what each halving
// before adds to it, coarse to fine, and within that by x, y, z. So a prefix of every list is what a coarser level
// needs.
//
// Of a block of N cells a *share* 1:s keeps ceil(N / s) coefficients, all of the corner always; those of a share that
// the one before has not are in a list of their own, in scan order. Places are coded after Elias (1974, J. ACM 21,
// 246-260) and Fano (1971): of n places below N the l = floor(log2(N / n)) low bits of each, one after the other, and
// their high parts h as a row of bits in which bit h + i is set for the i-th place. Its length depends on N and n
// alone. A share of all cells (1:1) needs no places: it has what is left.
//
// Each list has a check for each level: two sums after Fletcher (1982, IEEE Trans. Commun. 30, 247-252) over values and
// places, begun with the numbers of block, share and level, so that lists that are exchanged are noticed too.
#pragma once

#include <cstdint>
#include <vector>

#include "transform.hpp"

namespace fathometer::wavelet {

// A volume cut into blocks of `edge` cells; the last ones have what remains. shares: denominators, falling. step: its
// number in a series of volumes.
struct Cut {
    Index3 cells, edge, halvings;
    std::vector<std::int64_t> shares;
    std::int64_t step;

    Index3 blocks() const;
    Block block(const Index3 &index) const;
    std::int64_t number(const Index3 &index) const; // of a block, z fastest, and steps slowest
    int levels() const { return Block{edge, halvings}.levels(); }
};

// What a block has of a share.
struct List {
    std::int64_t values;    // how many
    int low_bits;           // of each place
    std::int64_t high, low; // bytes of the places
    bool rest;              // all that is left: no places
};
std::vector<List> lists_of(const Block &block, const std::vector<std::int64_t> &shares);

// The index of the n-th block of [first, first + count), z fastest; and the cells of a level of all of them.
Index3 index_of(std::int64_t n, const Index3 &first, const Index3 &count);
Index3 cells_of(const Cut &cut, const Index3 &first, const Index3 &count, int level);

// The lists of a share of several blocks, one after the other. begins: of each block's part of values, high and low, in
// elements, and the end of the last one's.
template <class Values, class Bytes> struct Share {
    Values *values;
    Bytes *high, *low;
    std::array<const std::int64_t *, 3> begins;
};
using Written = Share<float, std::uint8_t>;
using Read = Share<const float, const std::uint8_t>;

// Codes the blocks [first, first + count), all of whose cells `values` holds. corner: of all of them, as values.
// checks: [block][share][level, coarsest first]. The bytes of all places must be zero before. The first of these
// blocks, by its number among them, in which a value is no finite number or becomes none; -1: there is none.
std::int64_t encode(const Cut &cut, const Index3 &first, const Index3 &count, const float *values, float *corner,
                    const std::vector<Written> &shares, std::uint64_t *checks);

// The cells [lo, hi) of a level that lie in the blocks [first, first + count), from the corner and from what is there
// of the lists of the first shares. The first of these blocks that is damaged; -1: none is.
std::int64_t decode(const Cut &cut, const Index3 &first, const Index3 &count, int level, const float *corner,
                    const std::vector<Read> &shares, const std::uint64_t *checks, const Index3 &lo, const Index3 &hi,
                    float *result);

} // namespace fathometer::wavelet
