#include "bindings.hpp"

#include "core/arrays.hpp"
#include "flow.hpp"

namespace fathometer::flow {

namespace {

using Fields = Array<double, 4>;
using Numbers3 = std::array<double, 3>;

// The block of a rank, with the kernels that work on its arrays.
class FlowBlock {
  public:
    FlowBlock(int dims, Index3 cells, Numbers3 spacing, Index3 first, Index3 corrected, Index3 beyond) : block{} {
        require(dims == 2 || dims == 3, "dims is 2 or 3");
        require(dims == 3 || cells[2] == 1, "in two dimensions there is one cell along z");
        block.dims = dims;
        int64_t stride = 1;
        for (int a = 0; a < 3; ++a) {
            require(cells[a] >= 1, "a block has cells along each axis");
            require(spacing[a] > 0, "spacing is positive");
            block.cells[a] = cells[a];
            block.spacing[a] = spacing[a];
            block.first[a] = first[a];
            block.corrected[a] = corrected[a];
            block.beyond[a] = beyond[a];
            block.stride[a] = stride;
            if (a < dims)
                block.origin += stride;
            stride *= cells[a] + (a < dims ? 2 : 0);
        }
        block.field = stride;
    }

    void predict(Fields u, Fields rate, std::optional<Fields> next, double viscosity, double diffusivity,
                 double reference, Numbers3 push, Numbers3 lift, double now, double before) const {
        const Fluid fluid = fluid_of(u, viscosity, diffusivity, reference, push, lift);
        check_arrays({{"rate", rate, padded(u)}, {"next", next, padded(u)}});
        flow::predict(block, fluid, u.data(), rate.data(), next ? next->data() : nullptr, {now, before});
    }

    void leave(int axis, int side, double speed, Fields u, Fields rate, std::optional<Fields> next, double now,
               double before) const {
        check_side(axis, side);
        checked(speed, "speed", 0);
        check_arrays({{"u", u, padded(u)}, {"rate", rate, padded(u)}, {"next", next, padded(u)}});
        flow::leave(block, axis, side, speed, u.data(), rate.data(), next ? next->data() : nullptr, {now, before});
    }

    void divergence(Fields u, double scale, Array<double, 3> result) const {
        check_arrays({{"u", u, padded(u)}, {"result", result, owned()}});
        flow::divergence(block, u.data(), scale, result.data());
    }

    void correct(Array<double, 3> potential, Fields u) const {
        check_arrays({{"u", u, padded(u)}, {"potential", potential, one_field()}});
        flow::correct(block, potential.data(), u.data());
    }

    void limits(Fields u, Array<double, 3> row_maxima) const {
        check_arrays({{"u", u, padded(u)}, {"maxima", row_maxima, {block.cells[2], block.cells[1], maxima}}});
        flow::limits(block, u.data(), row_maxima.data());
    }

    void totals(Fields u, double viscosity, Array<double, 3> row_sums) const {
        const Fluid fluid = fluid_of(u, viscosity, 0, 0, {}, {});
        check_arrays({{"sums", row_sums, {block.cells[2], block.cells[1], sums}}});
        flow::totals(block, fluid, u.data(), row_sums.data());
    }

    void vorticity(Fields u, Array<double, 3> result) const {
        check_arrays({{"u", u, padded(u)}, {"result", result, owned()}});
        flow::vorticity(block, u.data(), result.data());
    }

    void fill(Array<double, 3> field, int axis, int side, const std::string &kind, double sign, double constant,
              std::optional<Input<double, 2>> value) const {
        check_side(axis, side);
        require(kind == "wrap" || kind == "mirror" || kind == "face", R"(kind is "wrap", "mirror" or "face")");
        const int b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2;
        check_arrays({{"field", field, one_field()}, {"value", value, {with_halo(c), with_halo(b)}}});
        flow::fill(block, field.data(), axis, side,
                   kind == "wrap"     ? Fill::wrap
                   : kind == "mirror" ? Fill::mirror
                                      : Fill::face,
                   sign, constant, value ? value->data() : nullptr);
    }

  private:
    int64_t with_halo(int axis) const { return block.cells[axis] + (axis < block.dims ? 2 : 0); }
    Shape owned() const { return {block.cells[2], block.cells[1], block.cells[0]}; }
    Shape one_field() const { return {with_halo(2), with_halo(1), with_halo(0)}; }
    Shape padded(const Fields &u) const {
        const int64_t fields = shape_of<4>(u)[0];
        require(fields == block.dims || fields == block.dims + 1, "fields are the velocities, and the temperature");
        return {fields, with_halo(2), with_halo(1), with_halo(0)};
    }

    void check_side(int axis, int side) const {
        require(axis >= 0 && axis < block.dims, "there is no such axis");
        require(side == 0 || side == 1, "side is 0 or 1");
    }

    Fluid fluid_of(const Fields &u, double viscosity, double diffusivity, double reference, const Numbers3 &push,
                   const Numbers3 &lift) const {
        check_arrays({{"u", u, padded(u)}});
        Fluid fluid{shape_of<4>(u)[0] > block.dims,
                    checked(viscosity, "viscosity", 0),
                    checked(diffusivity, "diffusivity", 0),
                    checked(reference, "reference", any),
                    {},
                    {}};
        for (int a = 0; a < 3; ++a) {
            fluid.push[a] = checked(push[a], "push", any);
            fluid.lift[a] = checked(lift[a], "lift", any);
        }
        return fluid;
    }

    Block block;
};

void solve(Array<double, 2> x, double spacing, bool joined, std::array<double, 2> sign, Input<double, 1> lambda) {
    const auto [n, columns] = shape_of<2>(x);
    check_arrays({{"lambda", lambda, {columns}}});
    require(n >= 1 && (!joined || n >= 3), "there are too few cells");
    require(spacing > 0, "spacing is positive");
    solve_columns(n, columns, spacing, joined, {sign[0], sign[1]}, lambda.data(), x.data());
}

} // namespace

void bind_flow(nb::module_ &m) {
    m.attr("FLOW_SUMS") = sums;
    m.attr("FLOW_MAXIMA") = maxima;
    nb::class_<FlowBlock>(m, "FlowBlock")
        .def(nb::init<int, Index3, Numbers3, Index3, Index3, Index3>(), nb::kw_only(), "dims"_a, "cells"_a, "spacing"_a,
             "first"_a, "corrected"_a, "beyond"_a)
        .def("predict", &FlowBlock::predict, nb::kw_only(), "u"_array, "rate"_array, "next"_array.none(), "viscosity"_a,
             "diffusivity"_a, "reference"_a, "push"_a, "lift"_a, "now"_a, "before"_a, Unlocked())
        .def("leave", &FlowBlock::leave, nb::kw_only(), "axis"_a, "side"_a, "speed"_a, "u"_array, "rate"_array,
             "next"_array.none(), "now"_a, "before"_a, Unlocked())
        .def("divergence", &FlowBlock::divergence, nb::kw_only(), "u"_array, "scale"_a, "result"_array, Unlocked())
        .def("correct", &FlowBlock::correct, nb::kw_only(), "potential"_array, "u"_array, Unlocked())
        .def("limits", &FlowBlock::limits, nb::kw_only(), "u"_array, "maxima"_array, Unlocked())
        .def("totals", &FlowBlock::totals, nb::kw_only(), "u"_array, "viscosity"_a, "sums"_array, Unlocked())
        .def("vorticity", &FlowBlock::vorticity, nb::kw_only(), "u"_array, "result"_array, Unlocked())
        .def("fill", &FlowBlock::fill, nb::kw_only(), "field"_array, "axis"_a, "side"_a, "kind"_a, "sign"_a,
             "constant"_a, "value"_array.none(), Unlocked());
    m.def("solve_columns", &solve, nb::kw_only(), "x"_array, "spacing"_a, "joined"_a, "sign"_a, "lambda_"_array,
          Unlocked());
}

} // namespace fathometer::flow
