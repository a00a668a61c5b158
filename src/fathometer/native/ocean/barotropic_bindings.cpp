#include "barotropic_bindings.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "barotropic_gradients.hpp"
#include "barotropic_halo.hpp"
#include "core/arrays.hpp"

namespace fathometer::ocean {

namespace {

using Volume = nb::ndarray<double, nb::c_contig, nb::device::cpu>; // of any number of axes

WaterRows rows_of(const Input<int64_t, 2> &extents, const Input<uint8_t, 3> &wet) {
    const auto [blocks, nx, ny] = shape_of<3>(wet);
    check_arrays({{"extents", extents, {blocks, 2}}});
    for (int64_t b = 0; b < blocks; ++b)
        require(extents(b, 0) > 0 && extents(b, 0) + 2 * WaterRows::halo <= nx && extents(b, 1) > 0 &&
                    extents(b, 1) + 2 * WaterRows::halo <= ny,
                "extents are those of blocks with a halo of 3 cells");
    return {blocks, nx, ny, extents.data(), wet.data()};
}

// What a solver of the surface's change calls: all arrays are bound once.
class SurfaceGradients {
  public:
    SurfaceGradients(Input<int64_t, 2> extents, Input<uint8_t, 3> wet, Input<double, 3> depth, Input<double, 2> area,
                     Input<double, 2> ratio_x, Input<double, 2> ratio_y, int64_t tile, bool exact,
                     Array<double, 4> vectors, Array<double, 1> sums, Array<int64_t, 1> limbs)
        : rows([&] {
              const auto [blocks, nx, ny] = shape_of<3>(wet);
              check_arrays({{"depth", depth, {blocks, nx, ny}},
                            {"area", area, {blocks, ny}},
                            {"ratio_x", ratio_x, {blocks, ny}},
                            {"ratio_y", ratio_y, {blocks, ny}},
                            {"vectors", vectors, {vector_count, blocks, nx, ny}},
                            {"sums", sums, {most_sums}},
                            {"limbs", limbs, {2 * most_sums + 1}}});
              require(tile >= 0 && tile <= 64, "tile is 0 to 64");
              return rows_of(extents, wet);
          }()),
          wet(wet.data(), wet.data() + rows.size()), kept(vectors), kept_sums(sums), kept_limbs(limbs),
          matrix(rows, area.data(), ratio_x.data(), ratio_y.data(), depth.data()),
          preconditioner(rows, tile, wet.data()), local(rows, exact, product_count),
          gradients(rows, matrix, preconditioner, local, vectors.data()) {}

    void scale(double k) {
        require(std::isfinite(k) && k >= 0, "the factor of the operator is not negative");
        matrix.scale(k);
        preconditioner.factor(matrix);
    }

    void surface(Input<double, 3> eta) {
        check_arrays({{"eta", eta, {rows.blocks, rows.nx, rows.ny}}});
        matrix.surface(eta.data());
    }

    void load(Input<double, 3> b, Input<double, 3> x) {
        check_arrays({{"b", b, {rows.blocks, rows.nx, rows.ny}}, {"x", x, {rows.blocks, rows.nx, rows.ny}}});
        local.forget();
        gradients.load(b.data(), x.data(), wet.data());
    }

    void unload(Array<double, 3> x) const {
        check_arrays({{"x", x, {rows.blocks, rows.nx, rows.ny}}});
        gradients.unload(x.data(), wet.data());
    }

    void apply(int from, int to, int which) {
        gradients.apply(vector(from), vector(to), sums(which));
        end(which);
    }

    void residual() { gradients.residual(); }

    void precondition(int from, int to) { gradients.precondition(vector(from), vector(to)); }

    void dot(int which) {
        gradients.dot(sums(which));
        end(which);
    }

    void largest(int which) { gradients.largest(sums(which), kept_sums.data()); }

    void set_limits(int which) {
        int products[most_sums];
        const int count = products_of(sums(which), products);
        for (int n = 0; n < count; ++n)
            local.set_limit(products[n], kept_sums.data()[n]);
    }

    // From what all ranks' limbs add up to, into `sums`; whether they are valid.
    bool values(int which, bool again) {
        int products[most_sums];
        const int count = products_of(sums(which), products);
        const int64_t *limbs = kept_limbs.data();
        bool valid = limbs[2 * count] == 0;
        for (int n = 0; n < count; ++n)
            valid &= local.value(products[n], limbs + 2 * n, again, kept_sums.data()[n]);
        return valid;
    }

    void pcg_update(double alpha) {
        gradients.pcg_update(alpha);
        end(sums_ru_rr);
    }
    void pcg_direction(double beta) { gradients.pcg_direction(beta); }
    void gear_update(double alpha, double beta) { gradients.gear_update(alpha, beta); }
    void pipelined_update(double alpha, double beta) {
        gradients.pipelined_update(alpha, beta);
        end(sums_ru_wu_rr);
    }

  private:
    static VectorName vector(int name) {
        require(name >= 0 && name < vector_count, "no such vector");
        return VectorName(name);
    }
    static SumsName sums(int name) {
        require(name >= 0 && name < sums_count, "no such sums");
        return SumsName(name);
    }
    void end(int which) {
        if (which != sums_none)
            local.end(kept_sums.data(), kept_limbs.data());
    }

    const WaterRows rows;
    const std::vector<uint8_t> wet;
    Array<double, 4> kept;
    Array<double, 1> kept_sums;
    Array<int64_t, 1> kept_limbs;
    SurfaceOperator matrix;
    Preconditioner preconditioner;
    Sums local;
    Gradients gradients;
};

class BoundHalo {
  public:
    // sent, received (n, 5): array, offset of the first element, rows, elements of a row, place in the buffer. moved
    // (n, 5): array, offset from, offset to, rows, elements of a row. The rows of an array (blocks, x, y, ...) are x.
    BoundHalo(std::vector<Volume> arrays, Input<int64_t, 2> sent, Input<int64_t, 2> received, Input<int64_t, 2> moved,
              Array<double, 1> send_buffer, Array<double, 1> receive_buffer)
        : arrays(std::move(arrays)), send_buffer(send_buffer), receive_buffer(receive_buffer) {
        for (const Volume &array : this->arrays)
            require(array.ndim() >= 3, "arrays with halos have three axes at least");
        const auto five = [](const Input<int64_t, 2> &list) { return Shape{shape_of<2>(list)[0], 5}; };
        check_arrays(
            {{"sent", sent, five(sent)}, {"received", received, five(received)}, {"moved", moved, five(moved)}});
        const auto packings = [&](const Input<int64_t, 2> &list, const Array<double, 1> &buffer) {
            std::vector<Packing> out;
            for (size_t n = 0; n < list.shape(0); ++n) {
                const Packing one{patch(list(n, 0), list(n, 1), list(n, 2), list(n, 3)), list(n, 4)};
                require(one.place >= 0 && one.place + one.patch.size() <= int64_t(buffer.shape(0)),
                        "the buffer is too small");
                out.push_back(one);
            }
            return out;
        };
        copies.sent = packings(sent, send_buffer);
        copies.received = packings(received, receive_buffer);
        for (size_t n = 0; n < moved.shape(0); ++n)
            copies.moved.push_back({patch(moved(n, 0), moved(n, 1), moved(n, 3), moved(n, 4)),
                                    patch(moved(n, 0), moved(n, 2), moved(n, 3), moved(n, 4))});
    }

    void pack() const { copies.pack(send_buffer.data()); }
    void unpack() const { copies.unpack(receive_buffer.data()); }

  private:
    Patch patch(int64_t number, int64_t offset, int64_t rows, int64_t length) const {
        require(number >= 0 && number < int64_t(arrays.size()), "no such array");
        const Volume &array = arrays[number];
        int64_t stride = 1;
        for (size_t axis = 2; axis < array.ndim(); ++axis)
            stride *= int64_t(array.shape(axis));
        require(offset >= 0 && rows > 0 && length > 0 && length <= stride &&
                    offset + (rows - 1) * stride + length <= int64_t(array.size()),
                "cells beyond the array");
        return {array.data() + offset, rows, length, stride};
    }

    std::vector<Volume> arrays;
    Array<double, 1> send_buffer, receive_buffer;
    HaloCopies copies;
};

} // namespace

void bind_barotropic(nb::module_ &m) {
    nb::class_<BoundHalo>(m, "BlockHaloCopies")
        .def(nb::init<std::vector<Volume>, Input<int64_t, 2>, Input<int64_t, 2>, Input<int64_t, 2>, Array<double, 1>,
                      Array<double, 1>>(),
             nb::kw_only(), "arrays"_array, "sent"_array, "received"_array, "moved"_array, "send_buffer"_array,
             "receive_buffer"_array)
        .def("pack", &BoundHalo::pack, Unlocked(), "Cells that are sent to the buffer; cells of own blocks to halos.")
        .def("unpack", &BoundHalo::unpack, Unlocked(), "What was received to halos.");
    using G = SurfaceGradients;
    nb::class_<G>(m, "SurfaceGradients")
        .def(nb::init<Input<int64_t, 2>, Input<uint8_t, 3>, Input<double, 3>, Input<double, 2>, Input<double, 2>,
                      Input<double, 2>, int64_t, bool, Array<double, 4>, Array<double, 1>, Array<int64_t, 1>>(),
             nb::kw_only(), "extents"_array, "wet"_array, "depth"_array, "area"_array, "ratio_x"_array, "ratio_y"_array,
             "tile"_a, "exact"_a, "vectors"_array, "sums"_array, "limbs"_array)
        .def("scale", &G::scale, "k"_a, Unlocked(), "The factor of the operator, m2; the preconditioner is made.")
        .def("surface", &G::surface, "eta"_array, Unlocked(), "Depth at corners, from the height of cells.")
        .def("load", &G::load, "b"_array, "x"_array, Unlocked(), "Right-hand side and start.")
        .def("unload", &G::unload, "x"_array, Unlocked(), "The solution, on cells of water.")
        .def("apply", &G::apply, "of"_a, "into"_a, "sums"_a, Unlocked(), "into = A of; local sums.")
        .def("residual", &G::residual, Unlocked(), "r = b - A x.")
        .def("precondition", &G::precondition, "of"_a, "into"_a, Unlocked(), "into = M of.")
        .def("dot", &G::dot, "sums"_a, Unlocked(), "Local sums.")
        .def("largest", &G::largest, "sums"_a, Unlocked(), "Largest terms on this rank, in place of sums.")
        .def("set_limits", &G::set_limits, "sums"_a, Unlocked(), "Limits of exact sums from the largest terms.")
        .def("values", &G::values, "sums"_a, "again"_a, Unlocked(), "Exact sums from limbs; whether they are valid.")
        .def("pcg_update", &G::pcg_update, "alpha"_a, Unlocked())
        .def("pcg_direction", &G::pcg_direction, "beta"_a, Unlocked())
        .def("gear_update", &G::gear_update, "alpha"_a, "beta"_a, Unlocked())
        .def("pipelined_update", &G::pipelined_update, "alpha"_a, "beta"_a, Unlocked());
}

} // namespace fathometer::ocean
