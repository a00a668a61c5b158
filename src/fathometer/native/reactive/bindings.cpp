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

using Lengths = std::vector<int64_t>;

// Also says what is wrong: "flux_x has the shape (4, 3, 3), not (5, 3, 3)".
template <class A> void require_shape(const A &array, const Lengths &shape, const char *name) {
    const Lengths found(array.shape_ptr(), array.shape_ptr() + array.ndim());
    if (found == shape)
        return;
    const auto text = [](const Lengths &lengths) {
        std::string words;
        for (int64_t length : lengths)
            words += (words.empty() ? "" : ", ") + std::to_string(length);
        return "(" + words + ")";
    };
    throw std::invalid_argument(std::string(name) + " has the shape " + text(found) + ", not " + text(shape));
}

std::vector<double> numbers(const Input<double, 1> &array, int64_t length, const char *name, double least) {
    require_shape(array, {length}, name);
    std::vector<double> values(array.data(), array.data() + length);
    for (double value : values)
        if (!(std::isfinite(value) && value >= least))
            throw std::invalid_argument(std::string(name) + " has the value " + std::to_string(value));
    return values;
}

std::vector<double> matrix(const Input<double, 2> &array, int64_t rows, int64_t columns, const char *name) {
    require_shape(array, {rows, columns}, name);
    std::vector<double> values(array.data(), array.data() + rows * columns);
    require(std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }),
            "a stoichiometric coefficient is not finite");
    return values;
}

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
              const int64_t n = int64_t(stoichiometry.shape(1)), m = int64_t(stoichiometry.shape(0));
              const int64_t k = int64_t(mineral_stoichiometry.shape(0));
              require(n >= 1 && n <= most_primary, "there are 1 to 16 primary species");
              require(m <= most_secondary, "there are 48 secondary species at most");
              require(k <= most_minerals, "there are 16 minerals at most");
              require(std::isfinite(a) && a >= 0 && std::isfinite(b) && b >= 0, "a and b are not negative");
              constexpr double any = -std::numeric_limits<double>::infinity();
              return System{int(n),
                            int(m),
                            int(k),
                            matrix(stoichiometry, m, n, "stoichiometry"),
                            numbers(ln_k, m, "ln_k", any),
                            numbers(charge, n + m, "charge", any),
                            numbers(ion_size, n + m, "ion_size", 0),
                            numbers(ion_b, n + m, "ion_b", any),
                            matrix(mineral_stoichiometry, k, n, "mineral_stoichiometry"),
                            numbers(mineral_ln_k, k, "mineral_ln_k", any),
                            numbers(rate_constant, k, "rate_constant", 0),
                            numbers(specific_area, k, "specific_area", 0),
                            numbers(nucleation_area, k, "nucleation_area", 0),
                            activity_of(model),
                            a,
                            b};
          }()) {}

    void totals(Input<double, 2> ln_c, Array<double, 2> totals, std::optional<Array<double, 3>> derivative) const {
        const int64_t cells = checked(ln_c), n = chemistry.system.primary;
        require_shape(totals, {cells, n}, "totals");
        if (derivative)
            require_shape(*derivative, {cells, n, n}, "derivative");
        chemistry.totals(cells, ln_c.data(), totals.data(), derivative ? derivative->data() : nullptr);
    }

    void rates(Input<double, 2> ln_c, Input<double, 2> old, double dt, Array<double, 2> amount, Array<double, 2> rate,
               std::optional<Array<double, 3>> derivative) const {
        const int64_t cells = checked(ln_c), n = chemistry.system.primary, k = chemistry.system.minerals;
        require_shape(old, {cells, k}, "old");
        require_shape(amount, {cells, k}, "new");
        require_shape(rate, {cells, k}, "rate");
        if (derivative)
            require_shape(*derivative, {cells, k, n}, "derivative");
        require(std::isfinite(dt) && dt >= 0, "dt is not negative");
        chemistry.rates(cells, ln_c.data(), old.data(), dt, amount.data(), rate.data(),
                        derivative ? derivative->data() : nullptr);
    }

    void reaction(Input<double, 2> ln_c, Input<double, 2> old, double dt, Input<double, 1> share,
                  Array<double, 2> amount, Array<double, 2> reaction,
                  std::optional<Array<double, 3>> derivative) const {
        const int64_t cells = checked(ln_c), n = chemistry.system.primary, k = chemistry.system.minerals;
        require_shape(old, {cells, k}, "old");
        require_shape(share, {cells}, "share");
        require_shape(amount, {cells, k}, "new");
        require_shape(reaction, {cells, n}, "reaction");
        if (derivative)
            require_shape(*derivative, {cells, n, n}, "derivative");
        require(std::isfinite(dt) && dt >= 0, "dt is not negative");
        chemistry.reaction(cells, ln_c.data(), old.data(), dt, share.data(), amount.data(), reaction.data(),
                           derivative ? derivative->data() : nullptr);
    }

    void species(Input<double, 2> ln_c, Array<double, 2> ln_activity, Array<double, 1> strength,
                 std::optional<Array<double, 2>> ln_molality) const {
        const int64_t cells = checked(ln_c), all = chemistry.system.species();
        require_shape(ln_activity, {cells, all}, "ln_activity");
        require_shape(strength, {cells}, "strength");
        if (ln_molality)
            require_shape(*ln_molality, {cells, all}, "ln_molality");
        chemistry.species(cells, ln_c.data(), ln_activity.data(), ln_molality ? ln_molality->data() : nullptr,
                          strength.data());
    }

  private:
    int64_t checked(const Input<double, 2> &ln_c) const {
        require_shape(ln_c, {int64_t(ln_c.shape(0)), chemistry.system.primary}, "ln_c");
        return int64_t(ln_c.shape(0));
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
    block.components = int(totals.shape(3));
    require(totals.shape(3) >= 1 && totals.shape(3) <= most_primary, "there are 1 to 16 components");
    const int64_t reach = block.scheme == Scheme::limited ? 2 : 1;
    int64_t cells = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t ghosted = int64_t(totals.shape(axis)), owned = int64_t(factor.shape(axis));
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
    require_shape(kind, {block.ghosted[0], block.ghosted[1], block.ghosted[2]}, "kind");
    require_shape(inverse_scale, {block.components}, "inverse_scale");
    require_shape(balance, {block.components}, "balance");
    require(balanced >= -1 && balanced < block.components, "balanced is a component, or -1");
    const char *names[2][3] = {{"flux_x", "flux_y", "flux_z"}, {"conductance_x", "conductance_y", "conductance_z"}};
    for (int axis = 0; axis < 3; ++axis) {
        Lengths shape(block.owned, block.owned + 3);
        ++shape[axis];
        require_shape(*flux[axis], shape, names[0][axis]);
        require_shape(*conductance[axis], shape, names[1][axis]);
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
    m.attr("MOST_PRIMARY_SPECIES") = most_primary;
    m.attr("MOST_SECONDARY_SPECIES") = most_secondary;
    m.attr("MOST_MINERALS") = most_minerals;
    nb::class_<ReactiveChemistry>(m, "ReactiveChemistry")
        .def(nb::init<Input<double, 2>, Input<double, 1>, Input<double, 1>, Input<double, 1>, Input<double, 1>,
                      Input<double, 2>, Input<double, 1>, Input<double, 1>, Input<double, 1>, Input<double, 1>,
                      const std::string &, double, double>(),
             "stoichiometry"_a.noconvert(), "ln_k"_a.noconvert(), "charge"_a.noconvert(), "ion_size"_a.noconvert(),
             "ion_b"_a.noconvert(), "mineral_stoichiometry"_a.noconvert(), "mineral_ln_k"_a.noconvert(),
             "rate_constant"_a.noconvert(), "specific_area"_a.noconvert(), "nucleation_area"_a.noconvert(), "model"_a,
             "a"_a, "b"_a)
        .def("totals", &ReactiveChemistry::totals, "ln_c"_a.noconvert(), "totals"_a.noconvert(),
             "derivative"_a.noconvert().none() = nb::none(), Unlocked(),
             "Total molalities, mol/kg, and d totals_j / d ln c_k.")
        .def("rates", &ReactiveChemistry::rates, "ln_c"_a.noconvert(), "old"_a.noconvert(), "dt"_a, "new"_a.noconvert(),
             "rate"_a.noconvert(), "derivative"_a.noconvert().none() = nb::none(), Unlocked(),
             "Amounts of minerals after a step of dt s, mol/m3, rates of dissolution, mol/(m3 s), and d rate / d ln c.")
        .def("reaction", &ReactiveChemistry::reaction, "ln_c"_a.noconvert(), "old"_a.noconvert(), "dt"_a,
             "share"_a.noconvert(), "new"_a.noconvert(), "reaction"_a.noconvert(),
             "derivative"_a.noconvert().none() = nb::none(), Unlocked(),
             "The same, with share sum_k nu_kj rate_k, share (cells), and d reaction_j / d ln c_l (cells, n, n).")
        .def("species", &ReactiveChemistry::species, "ln_c"_a.noconvert(), "ln_activity"_a.noconvert(),
             "strength"_a.noconvert(), "ln_molality"_a.noconvert().none() = nb::none(), Unlocked(),
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
            const Lengths shape{block.owned[0], block.owned[1], block.owned[2], block.components};
            require_shape(old, shape, "old");
            require_shape(reaction, shape, "reaction");
            require_shape(out, shape, "out");
            residual(block, old.data(), reaction.data(), out.data());
        },
        nb::kw_only(), "totals"_a.noconvert(), "kind"_a.noconvert(), "low"_a, "old"_a.noconvert(),
        "reaction"_a.noconvert(), "factor"_a.noconvert(), "flux_x"_a.noconvert(), "flux_y"_a.noconvert(),
        "flux_z"_a.noconvert(), "conductance_x"_a.noconvert(), "conductance_y"_a.noconvert(),
        "conductance_z"_a.noconvert(), "scheme"_a, "inverse_scale"_a.noconvert(), "balance"_a.noconvert(), "balanced"_a,
        "out"_a.noconvert(), Unlocked(),
        "The balance of every cell and component after a step, see native/reactive/transport.hpp.");
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
            require_shape(derivative, {gx, gy, gz, n, n}, "derivative");
            require_shape(reaction_derivative, {nx, ny, nz, n, n}, "reaction_derivative");
            require(begin >= 0 && begin <= end && end <= nx, "begin and end are planes of the owned block");
            const int64_t rows = (end - begin) * ny * nz, count = entries(block.scheme);
            require_shape(columns, {rows, count}, "columns");
            require_shape(values, {rows, n, count, n}, "values");
            jacobian(block, derivative.data(), reaction_derivative.data(), begin, end, columns.data(), values.data());
        },
        nb::kw_only(), "totals"_a.noconvert(), "kind"_a.noconvert(), "low"_a, "derivative"_a.noconvert(),
        "reaction_derivative"_a.noconvert(), "factor"_a.noconvert(), "flux_x"_a.noconvert(), "flux_y"_a.noconvert(),
        "flux_z"_a.noconvert(), "conductance_x"_a.noconvert(), "conductance_y"_a.noconvert(),
        "conductance_z"_a.noconvert(), "scheme"_a, "inverse_scale"_a.noconvert(), "balance"_a.noconvert(), "balanced"_a,
        "begin"_a, "end"_a, "columns"_a.noconvert(), "values"_a.noconvert(), Unlocked(),
        "Blocks of the residual's derivative by ln c, of the cells in planes of x. columns (cells, entries): the "
        "cell,\n"
        "its neighbours at -x, +x, -y, +y, -z, +z, with \"limited\" those behind them; numbers of the ghosted block or "
        "-1.\n"
        "values (cells, n, entries, n).");
}

} // namespace fathometer::reactive
