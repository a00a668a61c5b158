#include "bindings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "chemistry.hpp"
#include "core/arrays.hpp"
#include "transport.hpp"

namespace fathometer::reactive {

namespace {

Activity activity_of(const std::string &name) {
    if (name == "ideal")
        return Activity::ideal;
    if (name == "davies")
        return Activity::davies;
    require(name == "debye-hueckel", "model is \"davies\", \"debye-hueckel\" or \"ideal\"");
    return Activity::debye_huckel;
}

Scheme scheme_of(const std::string &name) {
    if (name == "upwind")
        return Scheme::upwind;
    if (name == "central")
        return Scheme::central;
    require(name == "limited", "scheme is \"upwind\", \"central\" or \"limited\"");
    return Scheme::limited;
}

class ReactiveChemistry {
  public:
    ReactiveChemistry(Input<double, 2> stoichiometry, Input<double, 1> ln_k, Input<double, 1> charge,
                      Input<double, 1> ion_size, Input<double, 1> ion_b, Input<double, 2> mineral_stoichiometry,
                      Input<double, 1> mineral_ln_k, Input<double, 1> rate_constant, Input<double, 1> specific_area,
                      Input<double, 1> nucleation_area, const std::string &model, double a, double b)
        : chemistry([&] {
              const auto [m, n] = shape_of<2>(stoichiometry);
              const int64_t k = shape_of<2>(mineral_stoichiometry)[0];
              require(n >= 1 && n <= most_primary, "there are 1 to 16 primary species");
              require(m <= most_secondary, "there are 48 secondary species at most");
              require(k <= most_minerals, "there are 16 minerals at most");
              return System{int(n),
                            int(m),
                            int(k),
                            values_of("stoichiometry", stoichiometry, {m, n}),
                            values_of("ln_k", ln_k, {m}),
                            values_of("charge", charge, {n + m}),
                            values_of("ion_size", ion_size, {n + m}, 0),
                            values_of("ion_b", ion_b, {n + m}),
                            values_of("mineral_stoichiometry", mineral_stoichiometry, {k, n}),
                            values_of("mineral_ln_k", mineral_ln_k, {k}),
                            values_of("rate_constant", rate_constant, {k}, 0),
                            values_of("specific_area", specific_area, {k}, 0),
                            values_of("nucleation_area", nucleation_area, {k}, 0),
                            activity_of(model),
                            checked(a, "a", 0),
                            checked(b, "b", 0)};
          }()) {}

    void totals(Input<double, 2> ln_c, Array<double, 2> totals, std::optional<Array<double, 3>> derivative) const {
        const auto [cells, n, k] = checked_shape(ln_c);
        check_arrays({{"totals", totals, {cells, n}}, {"derivative", derivative, {cells, n, n}}});
        chemistry.totals(cells, ln_c.data(), totals.data(), derivative ? derivative->data() : nullptr);
    }

    void rates(Input<double, 2> ln_c, Input<double, 2> old, double dt, Array<double, 2> amount, Array<double, 2> rate,
               std::optional<Array<double, 3>> derivative) const {
        const auto [cells, n, k] = checked_shape(ln_c);
        check_arrays({{"old", old, {cells, k}},
                      {"new", amount, {cells, k}},
                      {"rate", rate, {cells, k}},
                      {"derivative", derivative, {cells, k, n}}});
        chemistry.rates(cells, ln_c.data(), old.data(), checked(dt, "dt", 0), amount.data(), rate.data(),
                        derivative ? derivative->data() : nullptr);
    }

    void reaction(Input<double, 2> ln_c, Input<double, 2> old, double dt, Input<double, 1> share,
                  Array<double, 2> amount, Array<double, 2> reaction,
                  std::optional<Array<double, 3>> derivative) const {
        const auto [cells, n, k] = checked_shape(ln_c);
        check_arrays({{"old", old, {cells, k}},
                      {"share", share, {cells}},
                      {"new", amount, {cells, k}},
                      {"reaction", reaction, {cells, n}},
                      {"derivative", derivative, {cells, n, n}}});
        chemistry.reaction(cells, ln_c.data(), old.data(), checked(dt, "dt", 0), share.data(), amount.data(),
                           reaction.data(), derivative ? derivative->data() : nullptr);
    }

    void species(Input<double, 2> ln_c, Array<double, 2> ln_activity, Array<double, 1> strength,
                 std::optional<Array<double, 2>> ln_molality) const {
        const int64_t cells = checked_shape(ln_c)[0], all = chemistry.system.species();
        check_arrays({{"ln_activity", ln_activity, {cells, all}},
                      {"strength", strength, {cells}},
                      {"ln_molality", ln_molality, {cells, all}}});
        chemistry.species(cells, ln_c.data(), ln_activity.data(), ln_molality ? ln_molality->data() : nullptr,
                          strength.data());
    }

  private:
    // Cells, primary species and minerals.
    Index3 checked_shape(const Input<double, 2> &ln_c) const {
        const int64_t cells = shape_of<2>(ln_c)[0], primary = chemistry.system.primary;
        check_arrays({{"ln_c", ln_c, {cells, primary}}});
        return {cells, primary, chemistry.system.minerals};
    }

    Chemistry chemistry;
};

using Faces3 = Input<double, 3>;

Block block_of(const Input<double, 4> &totals, const Input<uint8_t, 3> &kind, const Index3 &low,
               const Input<double, 3> &factor, const std::array<const Faces3 *, 3> &flux,
               const std::array<const Faces3 *, 3> &conductance, const std::string &scheme,
               const Input<double, 1> &inverse_scale, const Input<double, 1> &balance, int balanced) {
    Block block{};
    block.scheme = scheme_of(scheme);
    const auto [gx, gy, gz, components] = shape_of<4>(totals);
    const Index3 ghosted_shape{gx, gy, gz}, owned_shape = shape_of<3>(factor);
    require(components >= 1 && components <= most_primary, "there are 1 to 16 components");
    block.components = int(components);
    const int64_t reach = block.scheme == Scheme::limited ? 2 : 1;
    int64_t cells = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t ghosted = ghosted_shape[axis], owned = owned_shape[axis];
        require(owned >= 1, "a block has cells");
        require(low[axis] >= 0 && low[axis] <= ghosted && owned <= ghosted - low[axis],
                "the owned block lies in the ghosted one");
        const int64_t high = ghosted - low[axis] - owned;
        require((low[axis] == 0 || low[axis] >= reach) && (high == 0 || high >= reach),
                "there are no ghost cells on a side of a block, or as many as the scheme reads");
        block.ghosted[axis] = ghosted;
        block.owned[axis] = owned;
        block.low[axis] = low[axis];
        cells *= ghosted;
        require(cells <= std::numeric_limits<int32_t>::max(), "the cells of a block are numbered in 32 bits");
    }
    const auto [x, y, z] = owned_shape;
    check_arrays({{"kind", kind, ghosted_shape},
                  {"inverse_scale", inverse_scale, {components}},
                  {"balance", balance, {components}},
                  {"flux_x", *flux[0], {x + 1, y, z}},
                  {"flux_y", *flux[1], {x, y + 1, z}},
                  {"flux_z", *flux[2], {x, y, z + 1}},
                  {"conductance_x", *conductance[0], {x + 1, y, z}},
                  {"conductance_y", *conductance[1], {x, y + 1, z}},
                  {"conductance_z", *conductance[2], {x, y, z + 1}}});
    require(balanced >= -1 && balanced < block.components, "balanced is a component, or -1");
    for (int axis = 0; axis < 3; ++axis) {
        block.flux[axis] = flux[axis]->data();
        block.conductance[axis] = conductance[axis]->data();
    }
    block.totals = totals.data();
    block.kind = kind.data();
    block.factor = factor.data();
    block.inverse_scale = inverse_scale.data();
    block.balance = balance.data();
    block.balanced = balanced;
    return block;
}

} // namespace

void bind_reactive(nb::module_ &m) {
    nb::class_<ReactiveChemistry>(m, "ReactiveChemistry")
        .def(nb::init<Input<double, 2>, Input<double, 1>, Input<double, 1>, Input<double, 1>, Input<double, 1>,
                      Input<double, 2>, Input<double, 1>, Input<double, 1>, Input<double, 1>, Input<double, 1>,
                      const std::string &, double, double>(),
             "stoichiometry"_array, "ln_k"_array, "charge"_array, "ion_size"_array, "ion_b"_array,
             "mineral_stoichiometry"_array, "mineral_ln_k"_array, "rate_constant"_array, "specific_area"_array,
             "nucleation_area"_array, "model"_a, "a"_a, "b"_a)
        .def("totals", &ReactiveChemistry::totals, "ln_c"_array, "totals"_array, "derivative"_array.none() = nb::none(),
             Unlocked(), "Total molalities, mol/kg, and d totals_j / d ln c_k.")
        .def("rates", &ReactiveChemistry::rates, "ln_c"_array, "old"_array, "dt"_a, "new"_array, "rate"_array,
             "derivative"_array.none() = nb::none(), Unlocked(),
             "Amounts of minerals after a step of dt s, mol/m3, rates of dissolution, mol/(m3 s), and d rate / d ln c.")
        .def("reaction", &ReactiveChemistry::reaction, "ln_c"_array, "old"_array, "dt"_a, "share"_array, "new"_array,
             "reaction"_array, "derivative"_array.none() = nb::none(), Unlocked(),
             "The same, with share sum_k nu_kj rate_k, share (cells), and d reaction_j / d ln c_l (cells, n, n).")
        .def("species", &ReactiveChemistry::species, "ln_c"_array, "ln_activity"_array, "strength"_array,
             "ln_molality"_array.none() = nb::none(), Unlocked(),
             "Of all species, primary ones first; ionic strength in mol/kg.");
    m.def(
        "reactive_residual",
        [](Input<double, 4> totals, Input<uint8_t, 3> kind, Index3 low, Input<double, 4> old, Input<double, 4> reaction,
           Input<double, 3> factor, Faces3 flux_x, Faces3 flux_y, Faces3 flux_z, Faces3 conductance_x,
           Faces3 conductance_y, Faces3 conductance_z, const std::string &scheme, Input<double, 1> inverse_scale,
           Input<double, 1> balance, int balanced, Array<double, 4> out) {
            const Block block =
                block_of(totals, kind, low, factor, {&flux_x, &flux_y, &flux_z},
                         {&conductance_x, &conductance_y, &conductance_z}, scheme, inverse_scale, balance, balanced);
            const Shape shape{block.owned[0], block.owned[1], block.owned[2], block.components};
            check_arrays({{"old", old, shape}, {"reaction", reaction, shape}, {"out", out, shape}});
            residual(block, old.data(), reaction.data(), out.data());
        },
        nb::kw_only(), "totals"_array, "kind"_array, "low"_a, "old"_array, "reaction"_array, "factor"_array,
        "flux_x"_array, "flux_y"_array, "flux_z"_array, "conductance_x"_array, "conductance_y"_array,
        "conductance_z"_array, "scheme"_a, "inverse_scale"_array, "balance"_array, "balanced"_a, "out"_array,
        Unlocked(), "The balance of every cell and component after a step, see native/reactive/transport.hpp.");
    m.def(
        "reactive_jacobian",
        [](Input<double, 4> totals, Input<uint8_t, 3> kind, Index3 low, Input<double, 5> derivative,
           Input<double, 5> reaction_derivative, Input<double, 3> factor, Faces3 flux_x, Faces3 flux_y, Faces3 flux_z,
           Faces3 conductance_x, Faces3 conductance_y, Faces3 conductance_z, const std::string &scheme,
           Input<double, 1> inverse_scale, Input<double, 1> balance, int balanced, int64_t begin, int64_t end,
           Array<int32_t, 2> columns, Array<double, 4> values) {
            const Block block =
                block_of(totals, kind, low, factor, {&flux_x, &flux_y, &flux_z},
                         {&conductance_x, &conductance_y, &conductance_z}, scheme, inverse_scale, balance, balanced);
            const int64_t n = block.components;
            const auto [gx, gy, gz] = block.ghosted;
            const auto [nx, ny, nz] = block.owned;
            require(begin >= 0 && begin <= end && end <= nx, "begin and end are planes of the owned block");
            const int64_t rows = (end - begin) * ny * nz, count = entries(block.scheme);
            check_arrays({{"derivative", derivative, {gx, gy, gz, n, n}},
                          {"reaction_derivative", reaction_derivative, {nx, ny, nz, n, n}},
                          {"columns", columns, {rows, count}},
                          {"values", values, {rows, n, count, n}}});
            jacobian(block, derivative.data(), reaction_derivative.data(), begin, end, columns.data(), values.data());
        },
        nb::kw_only(), "totals"_array, "kind"_array, "low"_a, "derivative"_array, "reaction_derivative"_array,
        "factor"_array, "flux_x"_array, "flux_y"_array, "flux_z"_array, "conductance_x"_array, "conductance_y"_array,
        "conductance_z"_array, "scheme"_a, "inverse_scale"_array, "balance"_array, "balanced"_a, "begin"_a, "end"_a,
        "columns"_array, "values"_array, Unlocked(),
        "Blocks of the residual's derivative by ln c, of the cells in planes of x. columns (cells, entries): the "
        "cell,\n"
        "its neighbours at -x, +x, -y, +y, -z, +z, with \"limited\" those behind them; numbers of the ghosted block or "
        "-1.\n"
        "values (cells, n, entries, n).");
}

} // namespace fathometer::reactive
