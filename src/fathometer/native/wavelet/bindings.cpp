#include "bindings.hpp"

#include <nanobind/stl/tuple.h>

#include "core/arrays.hpp"
#include "levels_of_detail.hpp"

namespace fathometer::wavelet {

namespace {

Block checked_block(const Index3 &cells, const Index3 &halvings) {
    for (int axis = 0; axis < 3; ++axis)
        require(cells[axis] >= 1 && halvings[axis] >= 0 && halvings[axis] <= 30, "cells from 1, halvings 0 to 30");
    return {cells, halvings};
}

Cut checked_cut(const Index3 &cells, const Index3 &edge, const Index3 &halvings, const std::vector<int64_t> &shares,
                int64_t step, const Index3 &first, const Index3 &count) {
    checked_block(cells, halvings);
    require(!shares.empty() && shares.back() >= 1 && std::is_sorted(shares.rbegin(), shares.rend()),
            "shares are falling numbers from 1");
    const Cut cut{cells, edge, halvings, shares, step};
    for (int axis = 0; axis < 3; ++axis) {
        require(edge[axis] >= 1 && (edge[axis] >= cells[axis] || edge[axis] % (int64_t(1) << halvings[axis]) == 0),
                "a block is a multiple of its coarsest cells");
        require(first[axis] >= 0 && count[axis] >= 1 && first[axis] + count[axis] <= cut.blocks()[axis],
                "blocks lie in the volume");
    }
    return cut;
}

void wavelet_forward(Array<float, 3> values, const Index3 &halvings) {
    std::vector<float> lines;
    forward(checked_block(shape_of<3>(values), halvings), values.data(), lines);
}

void wavelet_inverse(Array<float, 3> coefficients, const Index3 &cells, const Index3 &halvings, int level) {
    const Block block = checked_block(cells, halvings);
    require(level >= 0 && level <= block.levels(), "level is 0 to the number of halvings");
    const Index3 m = block.at(level);
    check_arrays({{"coefficients", coefficients, {m[0], m[1], m[2]}}});
    std::vector<float> lines;
    inverse(block, level, coefficients.data(), lines);
}

void wavelet_sizes(const Index3 &cells, const Index3 &edge, const Index3 &halvings, const std::vector<int64_t> &shares,
                   const Index3 &first, const Index3 &count, Array<int64_t, 3> sizes) {
    const Cut cut = checked_cut(cells, edge, halvings, shares, 0, first, count);
    const int64_t blocks = count[0] * count[1] * count[2];
    check_arrays({{"sizes", sizes, {blocks, int64_t(shares.size()), 3}}});
    int64_t *next = sizes.data();
    for (int64_t n = 0; n < blocks; ++n)
        for (const List &list : lists_of(cut.block(index_of(n, first, count)), shares)) {
            *next++ = list.values;
            *next++ = list.high;
            *next++ = list.low;
        }
}

template <class T, class A> std::vector<T *> pointers(const std::vector<A> &arrays) {
    std::vector<T *> all;
    for (const auto &array : arrays)
        all.push_back(array.data());
    return all;
}

auto wavelet_encode(const Index3 &cells, const Index3 &edge, const Index3 &halvings, const std::vector<int64_t> &shares,
                    int64_t step, const Index3 &first, const Index3 &count, Input<float, 3> values,
                    Array<float, 3> coarse, std::vector<Array<float, 1>> lists, std::vector<Array<uint8_t, 1>> high,
                    std::vector<Array<uint8_t, 1>> low, Array<uint64_t, 3> checks, bool with_error) {
    const Cut cut = checked_cut(cells, edge, halvings, shares, step, first, count);
    const Index3 n = cells_of(cut, first, count, 0), c = cells_of(cut, first, count, cut.levels());
    const int64_t blocks = count[0] * count[1] * count[2];
    check_arrays({{"values", values, {n[0], n[1], n[2]}},
                  {"coarse", coarse, {c[0], c[1], c[2]}},
                  {"checks", checks, {blocks, int64_t(shares.size()), cut.levels() + 1}}});
    require(lists.size() == shares.size() && high.size() == shares.size() && low.size() == shares.size(),
            "there is a list for each share");
    std::vector<List> all(shares.size(), List{});
    for (int64_t b = 0; b < blocks; ++b) {
        const auto own = lists_of(cut.block(index_of(b, first, count)), shares);
        for (std::size_t s = 0; s < all.size(); ++s) {
            all[s].values += own[s].values;
            all[s].high += own[s].high;
            all[s].low += own[s].low;
        }
    }
    for (std::size_t s = 0; s < all.size(); ++s)
        check_arrays(
            {{"lists", lists[s], {all[s].values}}, {"high", high[s], {all[s].high}}, {"low", low[s], {all[s].low}}});
    nb::gil_scoped_release unlocked;
    const Encoded e =
        encode(cut, first, count, values.data(), coarse.data(),
               {pointers<float>(lists), pointers<uint8_t>(high), pointers<uint8_t>(low)}, checks.data(), with_error);
    return std::make_tuple(e.transform_seconds, e.choice_seconds, e.error_seconds, e.bad, e.largest, e.squares);
}

// Begins within an array, rising, one for each block and the end.
template <class A>
const int64_t *checked_begins(const Input<int64_t, 2> &begins, int which, int64_t blocks, const A &of) {
    const int64_t *own = begins.data() + which * (blocks + 1);
    require(own[0] >= 0 && own[blocks] <= shape_of<1>(of)[0] && std::is_sorted(own, own + blocks + 1),
            "begins rise within their array");
    return own;
}

int64_t wavelet_decode(const Index3 &cells, const Index3 &edge, const Index3 &halvings,
                       const std::vector<int64_t> &shares, int64_t step, const Index3 &first, const Index3 &count,
                       int level, Input<float, 3> coarse, std::vector<Input<float, 1>> lists,
                       std::vector<Input<uint8_t, 1>> high, std::vector<Input<uint8_t, 1>> low,
                       std::vector<Input<int64_t, 2>> begins, Input<uint64_t, 3> checks, const Index3 &lo,
                       Array<float, 3> result) {
    const Cut cut = checked_cut(cells, edge, halvings, shares, step, first, count);
    require(level >= 0 && level <= cut.levels(), "level is 0 to the number of halvings");
    const int64_t blocks = count[0] * count[1] * count[2];
    const Index3 c = cells_of(cut, first, count, cut.levels());
    check_arrays({{"coarse", coarse, {c[0], c[1], c[2]}},
                  {"checks", checks, {blocks, int64_t(shares.size()), cut.levels() + 1}}});
    require(lists.size() <= shares.size() && high.size() == lists.size() && low.size() == lists.size() &&
                begins.size() == lists.size(),
            "there are lists of the first shares");
    std::vector<Parts> parts;
    for (std::size_t s = 0; s < lists.size(); ++s) {
        check_arrays({{"begins", begins[s], {3, blocks + 1}}});
        parts.push_back({checked_begins(begins[s], 0, blocks, lists[s]), checked_begins(begins[s], 1, blocks, high[s]),
                         checked_begins(begins[s], 2, blocks, low[s])});
    }
    const auto [x, y, z] = shape_of<3>(result);
    nb::gil_scoped_release unlocked;
    return decode(cut, first, count, level, coarse.data(),
                  {pointers<const float>(lists), pointers<const uint8_t>(high), pointers<const uint8_t>(low)}, parts,
                  checks.data(), lo, {lo[0] + x, lo[1] + y, lo[2] + z}, result.data());
}

} // namespace

void bind_wavelet(nb::module_ &m) {
    m.def("wavelet_forward", &wavelet_forward, "values"_array, "halvings"_a, Unlocked());
    m.def("wavelet_inverse", &wavelet_inverse, "coefficients"_array, "cells"_a, "halvings"_a, "level"_a, Unlocked());
    m.def("wavelet_sizes", &wavelet_sizes, "cells"_a, "edge"_a, "halvings"_a, "shares"_a, "first"_a, "count"_a,
          "sizes"_array);
    m.def("wavelet_encode", &wavelet_encode, "cells"_a, "edge"_a, "halvings"_a, "shares"_a, "step"_a, "first"_a,
          "count"_a, "values"_array, "coarse"_array, "lists"_a, "high"_a, "low"_a, "checks"_array, "with_error"_a);
    m.def("wavelet_decode", &wavelet_decode, "cells"_a, "edge"_a, "halvings"_a, "shares"_a, "step"_a, "first"_a,
          "count"_a, "level"_a, "coarse"_array, "lists"_a, "high"_a, "low"_a, "begins"_a, "checks"_array, "lo"_a,
          "result"_array);
}

} // namespace fathometer::wavelet
