#include "bindings.hpp"

#include "atmosphere.hpp"
#include "core/arrays.hpp"

#include <nanobind/stl/pair.h>

namespace fathometer::atmosphere {

namespace {

int64_t checked_latitudes(int64_t count) {
    require(count >= 2 && count % 2 == 0, "latitudes are an even number");
    return count;
}

// Complex arrays come as doubles, whose last axis is twice as long.
class AtmosphereSphere {
  public:
    AtmosphereSphere(int64_t truncation, Input<int64_t, 1> waves, int64_t latitudes)
        : own(truncation, checked_waves(truncation, waves), Latitudes(checked_latitudes(latitudes))) {}

    int64_t rows() const { return own.rows(); }
    std::vector<int64_t> begin() const { return own.begin; }

    void synthesise(Input<double, 2> coefficients, Array<double, 4> rings) const {
        const auto [rows, columns] = shape_of<2>(coefficients);
        check_arrays({{"coefficients", coefficients, {own.rows(), columns}}, {"rings", rings, rings_shape(columns)}});
        atmosphere::synthesise(own, columns, coefficients.data(), rings.data());
    }

    void analyse(Input<double, 4> rings, Array<double, 2> coefficients) const {
        const auto [rows, columns] = shape_of<2>(coefficients);
        check_arrays({{"coefficients", coefficients, {own.rows(), columns}}, {"rings", rings, rings_shape(columns)}});
        atmosphere::analyse(own, columns, rings.data(), coefficients.data());
    }

    void spread(int64_t levels, double radius, Input<double, 2> state, Array<double, 2> result) const {
        check_arrays({{"state", state, {own.rows(), 2 * state_columns(levels)}},
                      {"result", result, {own.rows(), 2 * grid_columns(levels)}}});
        atmosphere::spread(own, levels, checked(radius, "radius", tiny), state.data(), result.data());
    }

    void gather(int64_t levels, double radius, Input<double, 2> surface, Input<double, 2> sums,
                Array<double, 2> result) const {
        check_arrays({{"surface", surface, {own.rows(), 2}},
                      {"sums", sums, {own.rows(), 2 * rate_columns(levels)}},
                      {"result", result, {own.rows(), 2 * state_columns(levels)}}});
        atmosphere::gather(own, levels, checked(radius, "radius", tiny), surface.data(), sums.data(), result.data());
    }

    void leap(double radius, double dt, Input<double, 3> inverse, Input<double, 2> hydrostatic, Input<double, 2> energy,
              Input<double, 1> mass, double surface, Input<double, 1> flow_damping,
              Input<double, 1> temperature_damping, double filter, Input<double, 2> rates, Array<double, 2> before,
              Array<double, 2> now) const {
        const auto [levels] = shape_of<1>(mass);
        const int64_t degrees = own.truncation + 1;
        const Implicit implicit{inverse.data(), hydrostatic.data(), energy.data(), mass.data(), surface};
        const Shape shape{own.rows(), 2 * state_columns(levels)};
        check_arrays({{"inverse", inverse, {degrees, levels, levels}},
                      {"hydrostatic", hydrostatic, {levels, levels}},
                      {"energy", energy, {levels, levels}},
                      {"flow_damping", flow_damping, {degrees}},
                      {"temperature_damping", temperature_damping, {degrees}},
                      {"rates", rates, shape},
                      {"before", before, shape},
                      {"now", now, shape}});
        atmosphere::leap(own, levels, checked(radius, "radius", tiny), dt, implicit, flow_damping.data(),
                         temperature_damping.data(), filter, rates.data(), before.data(), now.data());
    }

  private:
    static std::vector<int64_t> checked_waves(int64_t truncation, const Input<int64_t, 1> &waves) {
        std::vector<int64_t> own(waves.data(), waves.data() + waves.size());
        for (int64_t m : own)
            require(m >= 0 && m <= truncation, "waves are from 0 to the truncation");
        return own;
    }
    Shape rings_shape(int64_t columns) const { return {int64_t(own.waves.size()), own.pairs, 2, columns}; }

    Sphere own;
};

class AtmosphereColumns {
  public:
    AtmosphereColumns(Input<double, 1> a, Input<double, 1> b, double gas, double kappa) {
        const auto [interfaces] = shape_of<1>(a);
        require(interfaces >= 2, "there is a level");
        levels.a = values_of("a", a, {interfaces}), levels.b = values_of("b", b, {interfaces});
        levels.gas = checked(gas, "gas", tiny), levels.kappa = checked(kappa, "kappa", tiny);
    }

    AtmosphereColumns() = default; // shallow water

    void rates(double sine, double cosine, double rotation, Input<double, 2> grid,
               std::optional<Input<double, 2>> forcing, Array<double, 2> rates, std::optional<Array<double, 2>> weather,
               std::optional<Array<double, 2>> winds) const {
        const auto [places, columns] = shape_of<2>(grid);
        const int64_t count = levels.a.empty() ? 1 : levels.count();
        check_arrays({{"grid", grid, {places, grid_columns(count)}},
                      {"forcing", forcing, {places, 3 * count}},
                      {"rates", rates, {places, rate_columns(count)}},
                      {"weather", weather, {places, weather_columns(count)}},
                      {"winds", winds, {places, wind_columns(count)}}});
        const Ring ring{sine, checked(cosine, "cosine", tiny), rotation};
        const double *push = forcing ? forcing->data() : nullptr;
        double *seen = weather ? weather->data() : nullptr, *carriers = winds ? winds->data() : nullptr;
        if (levels.a.empty())
            shallow_ring(ring, places, grid.data(), push, rates.data(), seen, carriers);
        else
            columns_of_ring(levels, ring, places, grid.data(), push, rates.data(), seen, carriers);
    }

  private:
    Levels levels;
};

class AtmospherePhysics {
  public:
    AtmospherePhysics(Input<double, 1> a, Input<double, 1> b, double gas, double kappa, double gravity, bool relaxation,
                      bool convection, double solar) {
        const auto [interfaces] = shape_of<1>(a);
        require(interfaces >= 2, "there is a level");
        own.levels.a = values_of("a", a, {interfaces}), own.levels.b = values_of("b", b, {interfaces});
        own.levels.gas = checked(gas, "gas", tiny), own.levels.kappa = checked(kappa, "kappa", tiny);
        own.gravity = checked(gravity, "gravity", tiny), own.solar = checked(solar, "solar", 0);
        own.relaxation = relaxation, own.convection = convection;
    }

    void force(Input<double, 1> sine, Input<double, 1> sun, double interval, Input<double, 2> weather,
               Array<double, 2> forcing, Array<double, 2> results) const {
        const auto [places] = shape_of<1>(sine);
        const int64_t levels = own.levels.count();
        check_arrays({{"sun", sun, {places}},
                      {"weather", weather, {places, weather_columns(levels)}},
                      {"forcing", forcing, {places, 3 * levels}},
                      {"results", results, {places, physics_results}}});
        force_columns(own, places, sine.data(), sun.data(), checked(interval, "interval", tiny), weather.data(),
                      forcing.data(), results.data());
    }

  private:
    Physics own;
};

class AtmosphereTracers {
  public:
    AtmosphereTracers(int64_t longitudes, int64_t latitudes, Input<double, 1> interfaces)
        : own(checked_longitudes(longitudes), checked_latitudes(latitudes), checked_interfaces(interfaces)) {}

    void carry(int64_t pair, int64_t first, double radius, double step, Input<double, 4> room,
               Array<double, 3> result) const {
        const auto [slots, halves, longitudes, columns] = shape_of<4>(room);
        const int64_t levels = own.levels(), tracers = (columns - wind_columns(levels)) / levels;
        require(pair >= 0 && 2 * pair < own.latitudes && tracers >= 0, "a pair of latitudes, and its winds");
        check_arrays({{"room", room, {slots, 2, own.longitudes, wind_columns(levels) + tracers * levels}},
                      {"result", result, {2, own.longitudes, tracers * levels}}});
        carry_pair(own, pair, first, slots, tracers, checked(radius, "radius", tiny), checked(step, "step", tiny),
                   room.data(), result.data());
    }

  private:
    static int64_t checked_longitudes(int64_t count) {
        require(count >= 4 && count % 2 == 0, "longitudes are an even number");
        return count;
    }
    static std::vector<double> checked_interfaces(const Input<double, 1> &given) {
        std::vector<double> found(given.data(), given.data() + given.size());
        require(found.size() >= 2, "there is a level");
        for (std::size_t k = 1; k < found.size(); ++k)
            require(found[k] > found[k - 1], "interfaces increase");
        return found;
    }

    Transport own;
};

} // namespace

void bind_atmosphere(nb::module_ &m) {
    m.def(
        "gauss_latitudes",
        [](int64_t count) {
            const Latitudes found(checked_latitudes(count));
            return std::pair(found.sine, found.weight);
        },
        nb::kw_only(), "count"_a);
    nb::class_<AtmosphereSphere>(m, "AtmosphereSphere")
        .def(nb::init<int64_t, Input<int64_t, 1>, int64_t>(), nb::kw_only(), "truncation"_a, "waves"_array,
             "latitudes"_a)
        .def_prop_ro("rows", &AtmosphereSphere::rows)
        .def_prop_ro("begin", &AtmosphereSphere::begin)
        .def("synthesise", &AtmosphereSphere::synthesise, nb::kw_only(), "coefficients"_array, "rings"_array,
             Unlocked())
        .def("analyse", &AtmosphereSphere::analyse, nb::kw_only(), "rings"_array, "coefficients"_array, Unlocked())
        .def("spread", &AtmosphereSphere::spread, nb::kw_only(), "levels"_a, "radius"_a, "state"_array, "result"_array,
             Unlocked())
        .def("gather", &AtmosphereSphere::gather, nb::kw_only(), "levels"_a, "radius"_a, "surface"_array, "sums"_array,
             "result"_array, Unlocked())
        .def("leap", &AtmosphereSphere::leap, nb::kw_only(), "radius"_a, "dt"_a, "inverse"_array, "hydrostatic"_array,
             "energy"_array, "mass"_array, "surface"_a, "flow_damping"_array, "temperature_damping"_array, "filter"_a,
             "rates"_array, "before"_array, "now"_array, Unlocked());
    nb::class_<AtmosphereColumns>(m, "AtmosphereColumns")
        .def(nb::init<Input<double, 1>, Input<double, 1>, double, double>(), nb::kw_only(), "a"_array, "b"_array,
             "gas"_a, "kappa"_a)
        .def(nb::init<>())
        .def("rates", &AtmosphereColumns::rates, nb::kw_only(), "sine"_a, "cosine"_a, "rotation"_a, "grid"_array,
             "forcing"_array.none(), "rates"_array, "weather"_array.none(), "winds"_array.none(), Unlocked());
    nb::class_<AtmospherePhysics>(m, "AtmospherePhysics")
        .def(nb::init<Input<double, 1>, Input<double, 1>, double, double, double, bool, bool, double>(), nb::kw_only(),
             "a"_array, "b"_array, "gas"_a, "kappa"_a, "gravity"_a, "relaxation"_a, "convection"_a, "solar"_a)
        .def("force", &AtmospherePhysics::force, nb::kw_only(), "sine"_array, "sun"_array, "interval"_a,
             "weather"_array, "forcing"_array, "results"_array, Unlocked());
    nb::class_<AtmosphereTracers>(m, "AtmosphereTracers")
        .def(nb::init<int64_t, int64_t, Input<double, 1>>(), nb::kw_only(), "longitudes"_a, "latitudes"_a,
             "interfaces"_array)
        .def("carry", &AtmosphereTracers::carry, nb::kw_only(), "pair"_a, "first"_a, "radius"_a, "step"_a, "room"_array,
             "result"_array, Unlocked());
    m.attr("ATMOSPHERE_RESULTS") = physics_results;
}

} // namespace fathometer::atmosphere
