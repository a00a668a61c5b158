#include "bindings.hpp"

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

template <class T> using List1 = std::vector<nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;

// The lists of shares; begins[share][part, block and the end] rise within their arrays.
template <class V, class B>
std::vector<Share<V, B>> shares_of(const List1<V> &values, const List1<B> &high, const List1<B> &low,
                                   const Input<int64_t, 3> &begins, int64_t blocks, std::size_t most) {
    const int64_t many = int64_t(values.size());
    require(values.size() <= most && high.size() == values.size() && low.size() == values.size(),
            "there are lists of the first shares");
    check_arrays({{"begins", begins, {many, 3, blocks + 1}}});
    std::vector<Share<V, B>> shares;
    for (int64_t s = 0; s < many; ++s) {
        Share<V, B> share{values[s].data(), high[s].data(), low[s].data(), {}};
        const std::array<int64_t, 3> lengths{int64_t(values[s].size()), int64_t(high[s].size()),
                                             int64_t(low[s].size())};
        for (int part = 0; part < 3; ++part) {
            const int64_t *own = share.begins[part] = begins.data() + (s * 3 + part) * (blocks + 1);
            require(own[0] >= 0 && own[blocks] <= lengths[part] && std::is_sorted(own, own + blocks + 1),
                    "begins rise within their array");
        }
        shares.push_back(share);
    }
    return shares;
}

int64_t wavelet_encode(const Index3 &cells, const Index3 &edge, const Index3 &halvings,
                       const std::vector<int64_t> &shares, int64_t step, const Index3 &first, const Index3 &count,
                       Input<float, 3> values, Array<float, 3> corner, List1<float> lists, List1<uint8_t> high,
                       List1<uint8_t> low, Input<int64_t, 3> begins, Array<uint64_t, 3> checks) {
    const Cut cut = checked_cut(cells, edge, halvings, shares, step, first, count);
    const Index3 n = cells_of(cut, first, count, 0), c = cells_of(cut, first, count, cut.levels());
    const int64_t blocks = count[0] * count[1] * count[2];
    check_arrays({{"values", values, {n[0], n[1], n[2]}},
                  {"corner", corner, {c[0], c[1], c[2]}},
                  {"checks", checks, {blocks, int64_t(shares.size()), cut.levels() + 1}}});
    const auto written = shares_of(lists, high, low, begins, blocks, shares.size());
    require(written.size() == shares.size(), "there are lists of all shares");
    for (int64_t b = 0; b < blocks; ++b) {
        const auto own = lists_of(cut.block(index_of(b, first, count)), shares);
        for (std::size_t s = 0; s < own.size(); ++s)
            for (int part = 0; part < 3; ++part)
                require(written[s].begins[part][b + 1] - written[s].begins[part][b] ==
                            std::array{own[s].values, own[s].high, own[s].low}[part],
                        "begins are those of the blocks' lists");
    }
    nb::gil_scoped_release unlocked;
    return encode(cut, first, count, values.data(), corner.data(), written, checks.data());
}

int64_t wavelet_decode(const Index3 &cells, const Index3 &edge, const Index3 &halvings,
                       const std::vector<int64_t> &shares, int64_t step, const Index3 &first, const Index3 &count,
                       int level, Input<float, 3> corner, List1<const float> lists, List1<const uint8_t> high,
                       List1<const uint8_t> low, Input<int64_t, 3> begins, Input<uint64_t, 3> checks, const Index3 &lo,
                       Array<float, 3> result) {
    const Cut cut = checked_cut(cells, edge, halvings, shares, step, first, count);
    require(level >= 0 && level <= cut.levels(), "level is 0 to the number of halvings");
    const int64_t blocks = count[0] * count[1] * count[2];
    const Index3 c = cells_of(cut, first, count, cut.levels());
    check_arrays({{"corner", corner, {c[0], c[1], c[2]}},
                  {"checks", checks, {blocks, int64_t(shares.size()), cut.levels() + 1}}});
    const auto read = shares_of(lists, high, low, begins, blocks, shares.size());
    const auto [x, y, z] = shape_of<3>(result);
    nb::gil_scoped_release unlocked;
    return decode(cut, first, count, level, corner.data(), read, checks.data(), lo, {lo[0] + x, lo[1] + y, lo[2] + z},
                  result.data());
}

} // namespace

void bind_wavelet(nb::module_ &m) {
    m.def("wavelet_forward", &wavelet_forward, "values"_array, "halvings"_a, Unlocked());
    m.def("wavelet_inverse", &wavelet_inverse, "coefficients"_array, "cells"_a, "halvings"_a, "level"_a, Unlocked());
    m.def("wavelet_sizes", &wavelet_sizes, "cells"_a, "edge"_a, "halvings"_a, "shares"_a, "first"_a, "count"_a,
          "sizes"_array);
    m.def("wavelet_encode", &wavelet_encode, "cells"_a, "edge"_a, "halvings"_a, "shares"_a, "step"_a, "first"_a,
          "count"_a, "values"_array, "corner"_array, "lists"_a, "high"_a, "low"_a, "begins"_array, "checks"_array);
    m.def("wavelet_decode", &wavelet_decode, "cells"_a, "edge"_a, "halvings"_a, "shares"_a, "step"_a, "first"_a,
          "count"_a, "level"_a, "corner"_array, "lists"_a, "high"_a, "low"_a, "begins"_array, "checks"_array, "lo"_a,
          "result"_array);
}

} // namespace fathometer::wavelet
