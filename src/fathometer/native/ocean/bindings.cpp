#include "bindings.hpp"

#include <nanobind/stl/tuple.h>

#include <initializer_list>
#include <tuple>

#include "checks.hpp"
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
    grid.blocks = int64_t(levels.shape(0));
    grid.nx = int64_t(levels.shape(1));
    grid.ny = int64_t(levels.shape(2));
    grid.nz = int64_t(thickness.shape(0));
    require(grid.nz >= 1, "there is at least one level");
    const Lengths columns{grid.blocks, grid.nx, grid.ny}, rows{grid.blocks, grid.ny};
    grid.extents = copied(extents, {grid.blocks, 2}, "extents", 1, 1e9);
    for (int64_t b = 0; b < grid.blocks; ++b)
        require(grid.extents[2 * b] + 2 * halo <= grid.nx && grid.extents[2 * b + 1] + 2 * halo <= grid.ny,
                "the extents of a block and its halos lie within the arrays");
    grid.levels = copied(levels, columns, "levels", 0, double(grid.nz));
    grid.levels_u = copied(levels_u, columns, "levels_u", 0, double(grid.nz));
    grid.dx = copied(dx, rows, "dx", tiny, -any);
    grid.dx_u = copied(dx_u, rows, "dx_u", tiny, -any);
    grid.f = copied(f, rows, "f", any, -any);
    grid.tan_over_radius = copied(tan_over_radius, rows, "tan_over_radius", any, -any);
    grid.thickness = copied(thickness, {grid.nz}, "thickness", tiny, -any);
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
        counted(tracers, "tracers");
        flat({{&eta, "eta"}});
        deep_out({{&p, "p"}});
        ocean::pressure(grid, numbers, tracers.data(), eta.data(), p.data());
    }

    void momentum(double dt, double theta, std::array<double, 3> weights, In4 u, In4 v, In3 eta, In4 p, In3 stress_x,
                  In3 stress_y, std::array<Out5, 3> tendencies, Out4 u_next, Out4 v_next, Out3 transport_u,
                  Out3 transport_v, Out3 shift_u, Out3 shift_v) const {
        deep({{&u, "u"}, {&v, "v"}, {&p, "p"}});
        flat({{&eta, "eta"}, {&stress_x, "stress_x"}, {&stress_y, "stress_y"}});
        deep_out({{&u_next, "u_next"}, {&v_next, "v_next"}});
        flat_out({{&transport_u, "transport_u"},
                  {&transport_v, "transport_v"},
                  {&shift_u, "shift_u"},
                  {&shift_v, "shift_v"}});
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
            require_shape(tendencies[m], {2, grid.blocks, grid.nx, grid.ny, grid.nz}, "tendencies");
            step.weights[m] = checked(weights[m], "weights", any);
            step.tendency_u[m] = tendencies[m].data();
            step.tendency_v[m] = tendencies[m].data() + grid.cells();
        }
        ocean::momentum(grid, numbers, step);
    }

    void correct(double dt, double theta, In3 d, Out4 u, Out4 v, Out3 shift_u, Out3 shift_v) const {
        flat({{&d, "d"}});
        deep_out({{&u, "u"}, {&v, "v"}});
        flat_out({{&shift_u, "shift_u"}, {&shift_v, "shift_v"}});
        ocean::correct(grid, numbers, checked(dt, "dt", tiny), checked(theta, "theta", 0), d.data(), u.data(), v.data(),
                       shift_u.data(), shift_v.data());
    }

    void fluxes(double dt, In4 u, In4 v, In3 shift_u, In3 shift_v, In3 eta, Out4 flux_x, Out4 flux_y,
                Out3 eta_next) const {
        deep({{&u, "u"}, {&v, "v"}});
        flat({{&shift_u, "shift_u"}, {&shift_v, "shift_v"}, {&eta, "eta"}});
        deep_out({{&flux_x, "flux_x"}, {&flux_y, "flux_y"}});
        flat_out({{&eta_next, "eta_next"}});
        volume_fluxes(grid, checked(dt, "dt", tiny),
                      {u.data(), v.data(), shift_u.data(), shift_v.data(), eta.data(), flux_x.data(), flux_y.data(),
                       eta_next.data()});
    }

    std::tuple<double, double, bool> courant(double dt, In4 flux_x, In4 flux_y, In3 eta) const {
        deep({{&flux_x, "flux_x"}, {&flux_y, "flux_y"}});
        flat({{&eta, "eta"}});
        const Courant largest = ocean::courant(grid, checked(dt, "dt", tiny), flux_x.data(), flux_y.data(), eta.data());
        return {largest.lateral, largest.vertical, largest.finite};
    }

    void surface_flux(In5 tracers, In4 given, In4 target, In1 rate, Out4 flux) const {
        const int64_t count = counted(tracers, "tracers");
        const Lengths shape{count, grid.blocks, grid.nx, grid.ny};
        require_shape(given, shape, "given");
        require_shape(target, shape, "target");
        require_shape(flux, shape, "flux");
        const std::vector<double> rates = copied(rate, {count}, "rate", 0, -any);
        ocean::surface_flux(grid, count, tracers.data(), given.data(), target.data(), rates.data(), flux.data());
    }

    void tracers(double dt, bool x_first, In5 tracers, In3 eta, In3 eta_next, In4 flux_x, In4 flux_y, In4 surface,
                 Out5 next) const {
        const int64_t count = counted(tracers, "tracers");
        flat({{&eta, "eta"}, {&eta_next, "eta_next"}});
        deep({{&flux_x, "flux_x"}, {&flux_y, "flux_y"}});
        require_shape(surface, {count, grid.blocks, grid.nx, grid.ny}, "surface_flux");
        require_shape(next, {count, grid.blocks, grid.nx, grid.ny, grid.nz}, "tracers_next");
        require(next.data() != tracers.data() || next.size() == 0, "tracers_next is another array than tracers");
        ocean::tracers(grid, numbers,
                       {checked(dt, "dt", tiny), x_first, count, tracers.data(), eta.data(), eta_next.data(),
                        flux_x.data(), flux_y.data(), surface.data(), next.data()});
    }

  private:
    template <class A> using Named = std::initializer_list<std::pair<const A *, const char *>>;

    template <class A> void all(Named<A> arrays, const Lengths &shape) const {
        for (const auto &[array, name] : arrays)
            require_shape(*array, shape, name);
    }
    void flat(Named<In3> arrays) const { all(arrays, {grid.blocks, grid.nx, grid.ny}); }
    void flat_out(Named<Out3> arrays) const { all(arrays, {grid.blocks, grid.nx, grid.ny}); }
    void deep(Named<In4> arrays) const { all(arrays, {grid.blocks, grid.nx, grid.ny, grid.nz}); }
    void deep_out(Named<Out4> arrays) const { all(arrays, {grid.blocks, grid.nx, grid.ny, grid.nz}); }
    int64_t counted(const In5 &tracers, const char *name) const {
        const int64_t count = int64_t(tracers.shape(0));
        require(count >= 2, "tracers are temperature, salinity and perhaps others");
        require_shape(tracers, {count, grid.blocks, grid.nx, grid.ny, grid.nz}, name);
        return count;
    }

    Grid grid;
    Numbers numbers;
};

} // namespace

void bind_ocean(nb::module_ &m) {
    m.attr("OCEAN_HALO") = halo;
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
            nb::kw_only(), "extents"_a.noconvert(), "levels"_a.noconvert(), "levels_u"_a.noconvert(),
            "dx"_a.noconvert(), "dx_u"_a.noconvert(), "f"_a.noconvert(), "tan_over_radius"_a.noconvert(),
            "thickness"_a.noconvert(), "dy"_a, "curvature"_a, "gravity"_a, "density"_a, "viscosity"_a, "diffusivity"_a,
            "vertical_viscosity"_a, "vertical_diffusivity"_a, "convective_diffusivity"_a, "drag"_a,
            "drag_coefficient"_a, "state_equation"_a, "expansion"_a, "contraction"_a, "reference_temperature"_a,
            "reference_salinity"_a, "advect_momentum"_a,
            "The blocks of a rank, halos included (native/ocean/grid.hpp), and the numbers of Physics; curvature = "
            "1/R².")
        .def("pressure", &OceanKernel::pressure, "tracers"_a.noconvert(), "eta"_a.noconvert(), "p"_a.noconvert(),
             Unlocked(),
             "Hydrostatic pressure over the density of reference, m²/s², of owned cells and those east and north.")
        .def("momentum", &OceanKernel::momentum, nb::kw_only(), "dt"_a, "theta"_a, "weights"_a, "u"_a.noconvert(),
             "v"_a.noconvert(), "eta"_a.noconvert(), "p"_a.noconvert(), "stress_x"_a.noconvert(),
             "stress_y"_a.noconvert(), "tendencies"_a.noconvert(), "u_next"_a.noconvert(), "v_next"_a.noconvert(),
             "transport_u"_a.noconvert(), "transport_v"_a.noconvert(), "shift_u"_a.noconvert(), "shift_v"_a.noconvert(),
             Unlocked(), "Provisional velocity after dt s, see native/ocean/momentum.hpp.")
        .def("correct", &OceanKernel::correct, nb::kw_only(), "dt"_a, "theta"_a, "d"_a.noconvert(), "u"_a.noconvert(),
             "v"_a.noconvert(), "shift_u"_a.noconvert(), "shift_v"_a.noconvert(), Unlocked(),
             "Takes dt theta g grad d from u and v, and what follows from it from the shift.")
        .def("fluxes", &OceanKernel::fluxes, nb::kw_only(), "dt"_a, "u"_a.noconvert(), "v"_a.noconvert(),
             "shift_u"_a.noconvert(), "shift_v"_a.noconvert(), "eta"_a.noconvert(), "flux_x"_a.noconvert(),
             "flux_y"_a.noconvert(), "eta_next"_a.noconvert(), Unlocked(),
             "Volume fluxes through faces, m³/s, and the surface height after dt s, see native/ocean/fluxes.hpp.")
        .def("courant", &OceanKernel::courant, nb::kw_only(), "dt"_a, "flux_x"_a.noconvert(), "flux_y"_a.noconvert(),
             "eta"_a.noconvert(), Unlocked(),
             "The largest lateral and vertical Courant number of owned cells; whether all is finite.")
        .def("surface_flux", &OceanKernel::surface_flux, "tracers"_a.noconvert(), "given"_a.noconvert(),
             "target"_a.noconvert(), "rate"_a.noconvert(), "flux"_a.noconvert(), Unlocked(),
             "Flux into the sea, tracer times m/s: what is given and rate dz_0 (target - tracer).")
        .def("tracers", &OceanKernel::tracers, nb::kw_only(), "dt"_a, "x_first"_a, "tracers"_a.noconvert(),
             "eta"_a.noconvert(), "eta_next"_a.noconvert(), "flux_x"_a.noconvert(), "flux_y"_a.noconvert(),
             "surface_flux"_a.noconvert(), "tracers_next"_a.noconvert(), Unlocked(),
             "Tracers of owned cells after dt s, see native/ocean/tracers.hpp.");
    m.def(
        "ocean_density",
        [](In1 temperature, In1 salinity, In1 pressure, Array<double, 1> density) {
            const int64_t n = int64_t(temperature.shape(0));
            require_shape(salinity, {n}, "salinity");
            require_shape(pressure, {n}, "pressure");
            require_shape(density, {n}, "density");
            wright_density(n, temperature.data(), salinity.data(), pressure.data(), density.data());
        },
        "temperature"_a.noconvert(), "salinity"_a.noconvert(), "pressure"_a.noconvert(), "density"_a.noconvert(),
        Unlocked(), "Density of sea water, kg/m³, of potential temperature in °C and pressure in Pa (Wright 1997).");
}

} // namespace fathometer::ocean
