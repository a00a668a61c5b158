#include "bindings.hpp"

#include "core/arrays.hpp"
#include "plasma.hpp"

namespace fathometer::plasma {

namespace {

// Complex arrays come as doubles, whose last axis is twice as long.
template <int N> using Complex = Array<double, N>;
using Doubles = std::vector<double>;
using Field = std::optional<Input<double, 3>>; // [ky, theta, kx] of all places

Potentials potentials_of(const Input<double, 3> &phi, const Field &a, const Shape &shape) {
    check_arrays({{"phi", phi, shape}, {"a", a, shape}});
    return {phi.data(), a ? a->data() : nullptr};
}

class PlasmaLines {
  public:
    PlasmaLines(Input<int64_t, 1> shift, Input<double, 1> root, Input<double, 3> drift, Input<double, 3> damping,
                Input<double, 1> stream, Input<double, 1> upwind, Input<double, 1> curvature, Input<double, 2> drive,
                Input<double, 1> charge, Input<double, 1> speed) {
        const auto [modes, points, waves] = shape_of<3>(drift);
        const auto [velocities] = shape_of<1>(stream);
        require(points > 6, "a field line has more points than the stencil");
        lines.modes = modes, lines.velocities = velocities, lines.points = points, lines.waves = waves;
        lines.shift = values_of("shift", shift, {modes});
        for (double value : values_of("root", root, {points}, tiny)) {
            lines.root.insert(lines.root.end(), static_cast<std::size_t>(2 * waves), value);
            lines.inverse.insert(lines.inverse.end(), static_cast<std::size_t>(2 * waves), 1 / value);
        }
        lines.drift = values_of("drift", drift, {modes, points, waves});
        for (double value : values_of("damping", damping, {modes, points, waves}, 0))
            lines.damping.insert(lines.damping.end(), 2, value);
        lines.stream = values_of("stream", stream, {velocities});
        lines.upwind = values_of("upwind", upwind, {velocities}, 0);
        lines.curvature = values_of("curvature", curvature, {velocities});
        lines.drive = values_of("drive", drive, {modes, velocities});
        lines.charge = values_of("charge", charge, {velocities});
        lines.speed = values_of("speed", speed, {velocities});
        for (double z : lines.charge)
            require(z != 0, "charge is not 0");
    }

    void rates(Input<double, 4> g, Input<double, 4> j0, Input<double, 3> phi, Field a,
               std::optional<Input<double, 4>> bracket, Complex<4> rate) const {
        check_arrays({{"g", g, all(2)}, {"j0", j0, all(1)}, {"bracket", bracket, all(2)}, {"rate", rate, all(2)}});
        along_lines(lines, g.data(), j0.data(), potentials_of(phi, a, one()), bracket ? bracket->data() : nullptr,
                    rate.data());
    }

    void sums(Input<double, 4> g, Input<double, 4> j0, Input<double, 3> phi, Field a, Array<double, 3> result) const {
        check_arrays(
            {{"g", g, all(2)}, {"j0", j0, all(1)}, {"result", result, {lines.modes, lines.velocities, line_sums}}});
        sum_lines(lines, g.data(), j0.data(), potentials_of(phi, a, one()), result.data());
    }

  private:
    Shape all(int64_t parts) const { return {lines.modes, lines.velocities, lines.points, parts * lines.waves}; }
    Shape one() const { return {lines.modes, lines.points, 2 * lines.waves}; }

    Lines lines;
};

class PlasmaVelocities {
  public:
    PlasmaVelocities(int64_t modes, Input<double, 2> mirror, Input<double, 2> scattering, Input<double, 1> mirror_speed,
                     std::optional<Input<double, 1>> nu, Input<double, 1> gradient, Input<double, 1> charge,
                     Input<double, 1> speed, Input<double, 1> weight) {
        const auto [angles, others] = shape_of<2>(mirror);
        const auto [shells] = shape_of<1>(mirror_speed);
        const auto [places] = shape_of<1>(gradient);
        require(modes >= 0 && angles >= 1, "there are modes and angles");
        own.modes = modes, own.shells = shells, own.angles = angles, own.places = places;
        own.mirror = values_of("mirror", mirror, {angles, angles});
        own.scattering = values_of("scattering", scattering, {angles, angles});
        own.mirror_speed = values_of("mirror_speed", mirror_speed, {shells});
        if (nu)
            own.nu = values_of("nu", *nu, {shells}, 0);
        own.gradient = values_of("gradient", gradient, {places});
        own.charge = values_of("charge", charge, {own.velocities()});
        own.speed = values_of("speed", speed, {own.velocities()});
        own.weight = values_of("weight", weight, {own.velocities()});
    }

    void fields(Input<double, 3> g, Input<double, 3> j0, Array<double, 3> result) const {
        const auto [number, modes, places] = shape_of<3>(result);
        require(number == 1 || number == 2, "fields are phi, or phi and A");
        check_arrays({{"g", g, all(2)}, {"j0", j0, all(1)}, {"result", result, {number, own.modes, 2 * own.places}}});
        sum_velocities(own, g.data(), j0.data(), number, result.data());
    }

    void rates(Input<double, 3> g, Input<double, 3> j0, Input<double, 2> phi, std::optional<Input<double, 2>> a,
               Complex<3> rate) const {
        check_arrays({{"g", g, all(2)}, {"j0", j0, all(1)}, {"rate", rate, all(2)}});
        mix_velocities(own, g.data(), j0.data(), potentials(phi, a), rate.data());
    }

    void collisions(Input<double, 3> g, Input<double, 3> j0, Input<double, 2> phi, std::optional<Input<double, 2>> a,
                    Input<double, 1> energy, Array<double, 2> result) const {
        check_arrays({{"g", g, all(2)},
                      {"j0", j0, all(1)},
                      {"energy", energy, {own.velocities()}},
                      {"result", result, {own.modes, own.places}}});
        sum_collisions(own, g.data(), j0.data(), potentials(phi, a), energy.data(), result.data());
    }

  private:
    Shape all(int64_t parts) const { return {own.modes, own.velocities(), parts * own.places}; }
    Potentials potentials(const Input<double, 2> &phi, const std::optional<Input<double, 2>> &a) const {
        const Shape shape{own.modes, 2 * own.places};
        check_arrays({{"phi", phi, shape}, {"a", a, shape}});
        return {phi.data(), a ? a->data() : nullptr};
    }

    Velocities own;
};

class PlasmaPlane {
  public:
    PlasmaPlane(int64_t points, int64_t nx, int64_t ny, Input<double, 1> kx, Input<double, 1> ky,
                Input<double, 1> speed) {
        const auto [waves] = shape_of<1>(kx);
        const auto [modes] = shape_of<1>(ky);
        const auto [velocities] = shape_of<1>(speed);
        require(points >= 1 && waves % 2 == 1 && modes >= 1, "kx are an odd number");
        require(nx > 3 * (waves / 2) && ny > 3 * (modes - 1), "the larger grid holds no products of all modes");
        plane.modes = modes, plane.waves = waves, plane.points = points, plane.nx = nx, plane.ny = ny;
        plane.kx = values_of("kx", kx, {waves});
        plane.ky = values_of("ky", ky, {modes}, 0);
        plane.speed = values_of("speed", speed, {velocities});
    }

    void derive(int64_t first, int64_t from, Input<double, 3> g, Input<double, 3> j0, Input<double, 3> phi, Field a,
                Array<double, 4> result) const {
        const auto [number, count, modes, line] = shape_of<4>(result);
        const auto [others, rows, length] = shape_of<3>(g);
        require(from >= 0 && from + count <= rows && first >= 0 &&
                    first + rows <= plane.points * int64_t(plane.speed.size()),
                "there are no such rows");
        check_arrays({{"g", g, {plane.modes, rows, 2 * plane.waves}},
                      {"j0", j0, {plane.modes, rows, plane.waves}},
                      {"result", result, {derivatives, count, plane.modes, 2 * plane.nx}}});
        spread(plane, rows, first, from, count, g.data(), j0.data(),
               potentials_of(phi, a, {plane.modes, plane.points, 2 * plane.waves}), result.data());
    }

    void product(Input<double, 4> derivative, Array<double, 3> result, Array<double, 1> rates) const {
        const auto [count, ny, nx] = shape_of<3>(result);
        check_arrays({{"derivative", derivative, {derivatives, count, plane.ny, plane.nx}},
                      {"result", result, {count, plane.ny, plane.nx}},
                      {"rates", rates, {count}}});
        multiply(plane, count, derivative.data(), result.data(), rates.data());
    }

    void collect(int64_t from, Input<double, 3> transform, Array<double, 3> bracket) const {
        const auto [count, modes, line] = shape_of<3>(transform);
        const auto [others, rows, length] = shape_of<3>(bracket);
        require(from >= 0 && from + count <= rows, "there are no such rows");
        check_arrays({{"transform", transform, {count, plane.modes, 2 * plane.nx}},
                      {"bracket", bracket, {plane.modes, rows, 2 * plane.waves}}});
        plasma::collect(plane, rows, from, count, transform.data(), bracket.data());
    }

  private:
    Plane plane;
};

void add(Input<double, 1> before, Input<double, 1> rate, double step, std::optional<Array<double, 1>> after,
         std::optional<Input<double, 1>> from, double part, std::optional<Array<double, 1>> sum) {
    const auto [count] = shape_of<1>(rate);
    check_arrays(
        {{"before", before, {count}}, {"after", after, {count}}, {"from", from, {count}}, {"sum", sum, {count}}});
    require(from.has_value() == sum.has_value(), "sum is made from something");
    add_rate(count, before.data(), rate.data(), step, after ? after->data() : nullptr, from ? from->data() : nullptr,
             part, sum ? sum->data() : nullptr);
}

} // namespace

void bind_plasma(nb::module_ &m) {
    m.attr("PLASMA_LINE_SUMS") = line_sums;
    m.attr("PLASMA_DERIVATIVES") = derivatives;
    nb::class_<PlasmaLines>(m, "PlasmaLines")
        .def(nb::init<Input<int64_t, 1>, Input<double, 1>, Input<double, 3>, Input<double, 3>, Input<double, 1>,
                      Input<double, 1>, Input<double, 1>, Input<double, 2>, Input<double, 1>, Input<double, 1>>(),
             nb::kw_only(), "shift"_array, "root"_array, "drift"_array, "damping"_array, "stream"_array, "upwind"_array,
             "curvature"_array, "drive"_array, "charge"_array, "speed"_array)
        .def("rates", &PlasmaLines::rates, nb::kw_only(), "g"_array, "j0"_array, "phi"_array, "a"_array.none(),
             "bracket"_array.none(), "rate"_array, Unlocked())
        .def("sums", &PlasmaLines::sums, nb::kw_only(), "g"_array, "j0"_array, "phi"_array, "a"_array.none(),
             "result"_array, Unlocked());
    nb::class_<PlasmaVelocities>(m, "PlasmaVelocities")
        .def(nb::init<int64_t, Input<double, 2>, Input<double, 2>, Input<double, 1>, std::optional<Input<double, 1>>,
                      Input<double, 1>, Input<double, 1>, Input<double, 1>, Input<double, 1>>(),
             nb::kw_only(), "modes"_a, "mirror"_array, "scattering"_array, "mirror_speed"_array, "nu"_array.none(),
             "gradient"_array, "charge"_array, "speed"_array, "weight"_array)
        .def("fields", &PlasmaVelocities::fields, nb::kw_only(), "g"_array, "j0"_array, "result"_array, Unlocked())
        .def("rates", &PlasmaVelocities::rates, nb::kw_only(), "g"_array, "j0"_array, "phi"_array, "a"_array.none(),
             "rate"_array, Unlocked())
        .def("collisions", &PlasmaVelocities::collisions, nb::kw_only(), "g"_array, "j0"_array, "phi"_array,
             "a"_array.none(), "energy"_array, "result"_array, Unlocked());
    nb::class_<PlasmaPlane>(m, "PlasmaPlane")
        .def(nb::init<int64_t, int64_t, int64_t, Input<double, 1>, Input<double, 1>, Input<double, 1>>(), nb::kw_only(),
             "points"_a, "nx"_a, "ny"_a, "kx"_array, "ky"_array, "speed"_array)
        .def("derive", &PlasmaPlane::derive, nb::kw_only(), "first"_a, "start"_a, "g"_array, "j0"_array, "phi"_array,
             "a"_array.none(), "result"_array, Unlocked())
        .def("product", &PlasmaPlane::product, nb::kw_only(), "derivative"_array, "result"_array, "rates"_array,
             Unlocked())
        .def("collect", &PlasmaPlane::collect, nb::kw_only(), "start"_a, "transform"_array, "bracket"_array,
             Unlocked());
    m.def("plasma_add", &add, nb::kw_only(), "before"_array, "rate"_array, "step"_a, "after"_array.none(),
          "start"_array.none(), "part"_a, "sum"_array.none(), Unlocked());
}

} // namespace fathometer::plasma
