#include "bindings.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "core/arrays.hpp"
#include "equation_of_state.hpp"
#include "fluxes.hpp"
#include "momentum.hpp"
#include "tracers.hpp"

namespace fathometer::ocean {

namespace {

using In1 = Input<double, 1>;
using In2 = Input<double, 2>;
using In3 = Input<double, 3>;
using In4 = Input<double, 4>;
using In5 = Input<double, 5>;
using Out3 = Array<double, 3>;
using Out4 = Array<double, 4>;
using Out5 = Array<double, 5>;

constexpr int64_t tile_x = 32, tile_y = 32;

Grid grid_of(const Input<int64_t, 2> &extents, const Input<int32_t, 3> &levels, const Input<int32_t, 3> &levels_u,
             const In2 &dx, const In2 &dx_u, const In2 &f, const In2 &tan_over_radius, const In1 &thickness, double dy,
             double curvature) {
    Grid grid{};
    const auto [blocks, nx, ny] = shape_of<3>(levels);
    const auto [nz] = shape_of<1>(thickness);
    grid.blocks = blocks;
    grid.nx = nx;
    grid.ny = ny;
    grid.nz = nz;
    require(grid.nz >= 1, "there is at least one level");
    grid.extents = values_of("extents", extents, {blocks, 2}, 1, 1e9);
    for (int64_t b = 0; b < grid.blocks; ++b)
        require(grid.extents[2 * b] + 2 * halo <= grid.nx && grid.extents[2 * b + 1] + 2 * halo <= grid.ny,
                "the extents of a block and its halos lie within the arrays");
    grid.levels = values_of("levels", levels, {blocks, nx, ny}, 0, double(nz));
    grid.levels_u = values_of("levels_u", levels_u, {blocks, nx, ny}, 0, double(nz));
    grid.dx = values_of("dx", dx, {blocks, ny}, tiny);
    grid.dx_u = values_of("dx_u", dx_u, {blocks, ny}, tiny);
    grid.f = values_of("f", f, {blocks, ny});
    grid.tan_over_radius = values_of("tan_over_radius", tan_over_radius, {blocks, ny});
    grid.thickness = values_of("thickness", thickness, {nz}, tiny);
    grid.bottoms.assign(1, 0.0);
    for (double dz : grid.thickness)
        grid.bottoms.push_back(grid.bottoms.back() + dz);
    grid.dy = checked(dy, "dy", tiny);
    grid.curvature = checked(curvature, "curvature", 0);
    grid.cut_tiles(tile_x, tile_y);
    return grid;
}

Numbers numbers_of(double gravity, double density, double viscosity, double diffusivity, double vertical_viscosity,
                   double vertical_diffusivity, double convective_diffusivity, int drag, double drag_coefficient,
                   int state_equation, double expansion, double contraction, double reference_temperature,
                   double reference_salinity, bool advect_momentum) {
    require(drag >= 0 && drag <= 2, "drag is 0, 1 or 2");
    require(state_equation == 0 || state_equation == 1, "state_equation is 0 or 1");
    return {checked(gravity, "gravity", tiny),
            checked(density, "density", tiny),
            checked(viscosity, "viscosity", 0),
            checked(diffusivity, "diffusivity", 0),
            checked(vertical_viscosity, "vertical_viscosity", 0),
            checked(vertical_diffusivity, "vertical_diffusivity", 0),
            checked(convective_diffusivity, "convective_diffusivity", 0),
            Drag(drag),
            checked(drag_coefficient, "drag_coefficient", 0),
            StateEquation(state_equation),
            checked(expansion, "expansion", any),
            checked(contraction, "contraction", any),
            checked(reference_temperature, "reference_temperature", any),
            checked(reference_salinity, "reference_salinity", any),
            advect_momentum};
}

class OceanKernel {
  public:
    OceanKernel(Grid g, Numbers n) : grid(std::move(g)), numbers(n) {}

    void pressure(In5 tracers, In3 eta, Out4 p) const {
        check_arrays({{"tracers", tracers, several(count_of(tracers))}, {"eta", eta, flat()}, {"p", p, deep()}});
        ocean::pressure(grid, numbers, tracers.data(), eta.data(), p.data());
    }

    void momentum(double dt, double theta, std::array<double, 3> weights, In4 u, In4 v, In3 eta, In4 p, In3 stress_x,
                  In3 stress_y, std::array<Out5, 3> tendencies, Out4 u_next, Out4 v_next, Out3 transport_u,
                  Out3 transport_v, Out3 shift_u, Out3 shift_v) const {
        check_arrays({{"u", u, deep()},
                      {"v", v, deep()},
                      {"p", p, deep()},
                      {"eta", eta, flat()},
                      {"stress_x", stress_x, flat()},
                      {"stress_y", stress_y, flat()},
                      {"u_next", u_next, deep()},
                      {"v_next", v_next, deep()},
                      {"transport_u", transport_u, flat()},
                      {"transport_v", transport_v, flat()},
                      {"shift_u", shift_u, flat()},
                      {"shift_v", shift_v, flat()}});
        MomentumStep step{checked(dt, "dt", tiny),
                          checked(theta, "theta", 0),
                          {},
                          u.data(),
                          v.data(),
                          eta.data(),
                          p.data(),
                          stress_x.data(),
                          stress_y.data(),
                          {},
                          {},
                          u_next.data(),
                          v_next.data(),
                          transport_u.data(),
                          transport_v.data(),
                          shift_u.data(),
                          shift_v.data()};
        for (int m = 0; m < 3; ++m) {
            check_arrays({{"tendencies", tendencies[m], several(2)}});
            step.weights[m] = checked(weights[m], "weights", any);
            step.tendency_u[m] = tendencies[m].data();
            step.tendency_v[m] = tendencies[m].data() + grid.cells();
        }
        ocean::momentum(grid, numbers, step);
    }

    void correct(double dt, double theta, In3 d, Out4 u, Out4 v, Out3 shift_u, Out3 shift_v) const {
        check_arrays({{"d", d, flat()},
                      {"u", u, deep()},
                      {"v", v, deep()},
                      {"shift_u", shift_u, flat()},
                      {"shift_v", shift_v, flat()}});
        ocean::correct(grid, numbers, checked(dt, "dt", tiny), checked(theta, "theta", 0), d.data(), u.data(), v.data(),
                       shift_u.data(), shift_v.data());
    }

    void fluxes(double dt, In4 u, In4 v, In3 shift_u, In3 shift_v, In3 eta, Out4 flux_x, Out4 flux_y,
                Out3 eta_next) const {
        check_arrays({{"u", u, deep()},
                      {"v", v, deep()},
                      {"shift_u", shift_u, flat()},
                      {"shift_v", shift_v, flat()},
                      {"eta", eta, flat()},
                      {"flux_x", flux_x, deep()},
                      {"flux_y", flux_y, deep()},
                      {"eta_next", eta_next, flat()}});
        volume_fluxes(grid, checked(dt, "dt", tiny),
                      {u.data(), v.data(), shift_u.data(), shift_v.data(), eta.data(), flux_x.data(), flux_y.data(),
                       eta_next.data()});
    }

    std::tuple<double, double, bool> courant(double dt, In4 flux_x, In4 flux_y, In3 eta) const {
        check_arrays({{"flux_x", flux_x, deep()}, {"flux_y", flux_y, deep()}, {"eta", eta, flat()}});
        const Courant largest = ocean::courant(grid, checked(dt, "dt", tiny), flux_x.data(), flux_y.data(), eta.data());
        return {largest.lateral, largest.vertical, largest.finite};
    }

    void surface_flux(In5 tracers, In4 given, In4 target, In1 rate, Out4 flux) const {
        const int64_t count = count_of(tracers);
        const Shape surface{count, grid.blocks, grid.nx, grid.ny};
        check_arrays({{"tracers", tracers, several(count)},
                      {"given", given, surface},
                      {"target", target, surface},
                      {"flux", flux, surface}});
        const std::vector<double> rates = values_of("rate", rate, {count}, 0);
        ocean::surface_flux(grid, count, tracers.data(), given.data(), target.data(), rates.data(), flux.data());
    }

    void tracers(double dt, bool x_first, In5 tracers, In3 eta, In3 eta_next, In4 flux_x, In4 flux_y, In4 surface,
                 Out5 next) const {
        const int64_t count = count_of(tracers);
        check_arrays({{"tracers", tracers, several(count)},
                      {"eta", eta, flat()},
                      {"eta_next", eta_next, flat()},
                      {"flux_x", flux_x, deep()},
                      {"flux_y", flux_y, deep()},
                      {"surface_flux", surface, {count, grid.blocks, grid.nx, grid.ny}},
                      {"tracers_next", next, several(count)}});
        require(next.data() != tracers.data() || next.size() == 0, "tracers_next is another array than tracers");
        ocean::tracers(grid, numbers,
                       {checked(dt, "dt", tiny), x_first, count, tracers.data(), eta.data(), eta_next.data(),
                        flux_x.data(), flux_y.data(), surface.data(), next.data()});
    }

  private:
    // Shapes of a field at the surface, one of all levels, and several of all levels in one array.
    Shape flat() const { return {grid.blocks, grid.nx, grid.ny}; }
    Shape deep() const { return {grid.blocks, grid.nx, grid.ny, grid.nz}; }
    Shape several(int64_t count) const { return {count, grid.blocks, grid.nx, grid.ny, grid.nz}; }

    static int64_t count_of(const In5 &tracers) {
        const int64_t count = shape_of<5>(tracers)[0];
        require(count >= 2, "tracers are temperature, salinity and perhaps others");
        return count;
    }

    Grid grid;
    Numbers numbers;
};

} // namespace

void bind_ocean(nb::module_ &m) {
    nb::class_<OceanKernel>(m, "OceanKernel")
        .def(
            "__init__",
            [](OceanKernel *self, Input<int64_t, 2> extents, Input<int32_t, 3> levels, Input<int32_t, 3> levels_u,
               In2 dx, In2 dx_u, In2 f, In2 tan_over_radius, In1 thickness, double dy, double curvature, double gravity,
               double density, double viscosity, double diffusivity, double vertical_viscosity,
               double vertical_diffusivity, double convective_diffusivity, int drag, double drag_coefficient,
               int state_equation, double expansion, double contraction, double reference_temperature,
               double reference_salinity, bool advect_momentum) {
                new (self) OceanKernel(
                    grid_of(extents, levels, levels_u, dx, dx_u, f, tan_over_radius, thickness, dy, curvature),
                    numbers_of(gravity, density, viscosity, diffusivity, vertical_viscosity, vertical_diffusivity,
                               convective_diffusivity, drag, drag_coefficient, state_equation, expansion, contraction,
                               reference_temperature, reference_salinity, advect_momentum));
            },
            nb::kw_only(), "extents"_array, "levels"_array, "levels_u"_array, "dx"_array, "dx_u"_array, "f"_array,
            "tan_over_radius"_array, "thickness"_array, "dy"_a, "curvature"_a, "gravity"_a, "density"_a, "viscosity"_a,
            "diffusivity"_a, "vertical_viscosity"_a, "vertical_diffusivity"_a, "convective_diffusivity"_a, "drag"_a,
            "drag_coefficient"_a, "state_equation"_a, "expansion"_a, "contraction"_a, "reference_temperature"_a,
            "reference_salinity"_a, "advect_momentum"_a,
            "The blocks of a rank, halos included (native/ocean/grid.hpp), and the numbers of Physics; curvature = "
            "1/R².")
        .def("pressure", &OceanKernel::pressure, "tracers"_array, "eta"_array, "p"_array, Unlocked(),
             "Hydrostatic pressure over the density of reference, m²/s², of owned cells and those east and north.")
        .def("momentum", &OceanKernel::momentum, nb::kw_only(), "dt"_a, "theta"_a, "weights"_a, "u"_array, "v"_array,
             "eta"_array, "p"_array, "stress_x"_array, "stress_y"_array, "tendencies"_array, "u_next"_array,
             "v_next"_array, "transport_u"_array, "transport_v"_array, "shift_u"_array, "shift_v"_array, Unlocked(),
             "Provisional velocity after dt s, see native/ocean/momentum.hpp.")
        .def("correct", &OceanKernel::correct, nb::kw_only(), "dt"_a, "theta"_a, "d"_array, "u"_array, "v"_array,
             "shift_u"_array, "shift_v"_array, Unlocked(),
             "Takes dt theta g grad d from u and v, and what follows from it from the shift.")
        .def("fluxes", &OceanKernel::fluxes, nb::kw_only(), "dt"_a, "u"_array, "v"_array, "shift_u"_array,
             "shift_v"_array, "eta"_array, "flux_x"_array, "flux_y"_array, "eta_next"_array, Unlocked(),
             "Volume fluxes through faces, m³/s, and the surface height after dt s, see native/ocean/fluxes.hpp.")
        .def("courant", &OceanKernel::courant, nb::kw_only(), "dt"_a, "flux_x"_array, "flux_y"_array, "eta"_array,
             Unlocked(), "The largest lateral and vertical Courant number of owned cells; whether all is finite.")
        .def("surface_flux", &OceanKernel::surface_flux, "tracers"_array, "given"_array, "target"_array, "rate"_array,
             "flux"_array, Unlocked(),
             "Flux into the sea, tracer times m/s: what is given and rate dz_0 (target - tracer).")
        .def("tracers", &OceanKernel::tracers, nb::kw_only(), "dt"_a, "x_first"_a, "tracers"_array, "eta"_array,
             "eta_next"_array, "flux_x"_array, "flux_y"_array, "surface_flux"_array, "tracers_next"_array, Unlocked(),
             "Tracers of owned cells after dt s, see native/ocean/tracers.hpp.");
    m.def(
        "ocean_density",
        [](In1 temperature, In1 salinity, In1 pressure, Array<double, 1> density) {
            const auto [n] = shape_of<1>(temperature);
            check_arrays({{"salinity", salinity, {n}}, {"pressure", pressure, {n}}, {"density", density, {n}}});
            wright_density(n, temperature.data(), salinity.data(), pressure.data(), density.data());
        },
        "temperature"_array, "salinity"_array, "pressure"_array, "density"_array, Unlocked(),
        "Density of sea water, kg/m³, of potential temperature in °C and pressure in Pa (Wright 1997).");
}

} // namespace fathometer::ocean
