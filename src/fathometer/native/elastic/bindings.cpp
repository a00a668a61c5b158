#include "bindings.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "core/bound_wavefield.hpp"
#include "elastic.hpp"

namespace fathometer::elastic {

namespace {

constexpr int radius = 2;

template <class T>
std::unique_ptr<Elastic<T>> physics_of(bool has_y, const std::vector<Array<T, 3>> &fields,
                                       const std::vector<Array<T, 3>> &model, const std::vector<Array<T, 3>> &zeta) {
    auto physics = has_y ? in_three_dimensions<T>(!zeta.empty()) : in_two_dimensions<T>(!zeta.empty());
    require(int(fields.size()) == physics->fields, "nine fields in three dimensions, five in two");
    require(int(model.size()) == physics->models, "eight or five arrays of the medium, two more with attenuation");
    return physics;
}

// Each field once for both levels: stages advance it in place.
template <class T> std::vector<Array<T, 3>> twice(const std::vector<Array<T, 3>> &fields) {
    std::vector<Array<T, 3>> buffers;
    for (const Array<T, 3> &field : fields)
        buffers.insert(buffers.end(), {field, field});
    return buffers;
}

template <class T> class BoundElastic : public BoundWavefield<T> {
  public:
    BoundElastic(bool has_y, Index3 shape, Index3 first, std::vector<Array<T, 3>> fields,
                 std::vector<Array<T, 3>> model, Input<T, 2> weights, Input<T, 3> closure, bool free_surface,
                 std::array<std::array<bool, 2>, 3> cut, int64_t exchanged, std::vector<Array<T, 3>> zeta,
                 std::array<double, 3> decay, int64_t mechanism)
        : BoundElastic(physics_of(has_y, fields, model, zeta), has_y, shape, first, fields, model, free_surface, cut,
                       exchanged) {
        check_arrays({{"weights", weights, {3, 2}}, {"closure", closure, {2, closure_columns, closure_rows}}});
        for (int axis = 0; axis < 3; ++axis)
            for (int m = 0; m < 2; ++m) {
                require(std::isfinite(weights(axis, m)), "a weight of the stencil is not finite");
                physics->weights[axis][m] = weights(axis, m);
            }
        for (int half = 0; half < 2; ++half)
            for (int m = 0; m < closure_columns; ++m)
                for (int row = 0; row < closure_rows; ++row) {
                    require(std::isfinite(closure(half, m, row)), "a weight of the closure is not finite");
                    physics->closure.table[half][m][row] = closure(half, m, row);
                }
        require(!free_surface || shape[2] >= closure_rows, "below a free surface there are eight cells");
        require(first[2] % lanes<T> == 0, "rows begin at whole vectors");
        if (!zeta.empty())
            relax(zeta, decay, mechanism, model[0]);
    }

    // Memories by stage and component, gain and decay by nodes and half points.
    void add_layer(int axis, int64_t lo, int64_t hi, std::vector<Array<T, 3>> memory, std::vector<Array<T, 1>> gain,
                   std::vector<Array<T, 1>> decay, std::vector<Array<T, 1>> keep) {
        const std::size_t components = this->w.has_y ? 3 : 2;
        require(axis == 0 || axis == 2 || (axis == 1 && this->w.has_y), "a layer lies along an axis");
        require(lo >= 0 && lo < hi && hi <= this->w.n[axis], "a layer lies in the block");
        require(axis != 2 || (lo % lanes<T> == 0 && (hi % lanes<T> == 0 || hi == this->w.n[2]) &&
                              (lo == 0 || hi == this->w.n[2])),
                "a layer of z is whole vectors at an end of the rows");
        require(memory.size() == 2 * components && gain.size() == 2 && decay.size() == 2 && keep.size() == 2,
                "a layer has memories of two stages, filters at nodes and at half points");
        const int64_t whole = (hi - lo + lanes<T> - 1) / lanes<T> * lanes<T>;
        Layer<T> layer{axis, lo, hi, {}, {memory[0].stride(0), memory[0].stride(1)}, {}, {}, {}};
        Index3 covered{this->w.n[0], this->w.n[1], this->w.n[2]};
        covered[axis] = axis == 2 ? whole : hi - lo;
        for (std::size_t m = 0; m < memory.size(); ++m) {
            check_arrays({{"memory", memory[m], shape_of<3>(memory[0])}, {"memory", memory[m], covered, at_least}});
            const std::size_t component = m % components;
            layer.memory[m / components][component && components == 2 ? 2 : component] = memory[m].data();
            this->keep3.push_back(memory[m]);
        }
        for (int half = 0; half < 2; ++half) {
            check_arrays(
                {{"gain", gain[half], {hi - lo}}, {"decay", decay[half], {hi - lo}}, {"keep", keep[half], {hi - lo}}});
            this->keep1.insert(this->keep1.end(), {gain[half], decay[half], keep[half]});
            layer.gain[half] = gain[half].data();
            layer.decay[half] = decay[half].data();
            if (std::any_of(keep[half].data(), keep[half].data() + (hi - lo), [](T share) { return share != 1; }))
                layer.keep[half] = keep[half].data();
        }
        for (const Layer<T> &other : physics->layers)
            require(other.axis != axis || other.hi <= lo, "layers of an axis follow one another and do not overlap");
        physics->layers.push_back(layer);
    }

    // A contact in the cells first..last; its derivatives are sums over values from `start` on.
    void set_contact(int64_t first, int64_t last, int64_t start, Input<T, 3> table, Input<T, 2> keep) {
        const int64_t n = this->w.n[2], cells = last - first;
        require(first >= 0 && first < last && last <= n && cells <= contact_cells && first % contact_alignment == 0 &&
                    (last % contact_alignment == 0 || last == n),
                "a contact lies in whole vectors of a row");
        require(start >= 0 && start + contact_columns <= n, "what it asks for lies in the rows");
        require(!this->w.cut[2][0] && !this->w.cut[2][1], "rows over a contact are whole");
        check_arrays(
            {{"table", table, {contact_tables, contact_columns, cells}}, {"keep", keep, {contact_tables, cells}}});
        Contact<T> &contact = physics->contact;
        contact.first = first;
        contact.last = last;
        contact.start = start;
        for (int number = 0; number < contact_tables; ++number)
            for (int64_t k = 0; k < cells; ++k) {
                require(keep(number, k) == 0 || keep(number, k) == 1, "a derivative is kept or not");
                contact.keep[number][k] = keep(number, k);
                for (int64_t m = 0; m < contact_columns; ++m) {
                    require(std::isfinite(table(number, m, k)), "a weight of the contact is not finite");
                    contact.table[number][m][k] = table(number, m, k);
                }
            }
    }

    // A floor that slopes: its depth below nodes in cells, with a margin; tables of floor_strip.py; the water's own
    // motion in the floor and its buoyancy there.
    void set_sloping_floor(Input<double, 2> depth, std::array<double, 3> spacing, Input<T, 5> weights,
                           Input<T, 3> inverse, Input<T, 3> derivative, Array<T, 2> water, Input<T, 2> buoyancy) {
        const auto &n = this->w.n;
        const int64_t across = this->w.has_y ? floor_margin : 0, reach = strip_lanes + 4;
        const Shape columns{n[0], n[1]};
        require(!this->w.cut[2][0] && !this->w.cut[2][1], "rows over a floor are whole");
        check_arrays({{"depth", depth, {n[0] + 2 * floor_margin, n[1] + 2 * across}},
                      {"weights", weights, {8, floor_parts, 4, strip_band, strip_lanes}},
                      {"inverse", inverse, {8, floor_parts, strip_lanes}},
                      {"derivative", derivative, {16, strip_lanes, strip_lanes}},
                      {"water", water, columns},
                      {"buoyancy", buoyancy, columns}});
        const auto finite = [](const auto &table) {
            return std::all_of(table.data(), table.data() + table.size(), [](T value) { return std::isfinite(value); });
        };
        require(finite(weights) && finite(inverse) && finite(derivative), "a weight next to the floor is not finite");
        auto floor = std::make_unique<SlopingFloor<T>>();
        for (const double *d = depth.data(); d < depth.data() + depth.size(); ++d)
            require(*d >= double(closure_rows + strip_points) && *d <= double(n[2] - reach - 2),
                    "a floor lies inside the rows");
        floor->follow(depth.data(), n[0] + 2 * floor_margin, n[1] + 2 * across, this->w.has_y);
        floor->weights = weights.data();
        floor->inverse = inverse.data();
        floor->derivative = derivative.data();
        floor->water = water.data();
        floor->buoyancy = buoyancy.data();
        floor->water_stride = n[1];
        for (int axis = 0; axis < 3; ++axis) {
            require(spacing[axis] > 0, "spacings are positive");
            floor->per_cell[axis] = T(1 / spacing[axis]);
        }
        kept_by_floor = {weights, inverse, derivative, water, buoyancy};
        physics->floor = std::move(floor);
    }

    void watch_peaks(int64_t plane, Array<T, 2> horizontal, Array<T, 2> vertical) {
        require(plane >= 0 && plane < this->w.n[2], "the plane lies in the block");
        const Shape columns{this->w.n[0], this->w.n[1]};
        check_arrays({{"horizontal", horizontal, columns}, {"vertical", vertical, columns}});
        physics->peaks = {plane, horizontal.data(), vertical.data()};
        keep2 = {horizontal, vertical};
    }

  private:
    std::unique_ptr<Elastic<T>> physics;
    std::vector<Array<T, 2>> keep2;
    std::tuple<Input<T, 5>, Input<T, 3>, Input<T, 3>, Array<T, 2>, Input<T, 2>> kept_by_floor;

    BoundElastic(std::unique_ptr<Elastic<T>> made, bool has_y, const Index3 &shape, const Index3 &first,
                 const std::vector<Array<T, 3>> &fields, const std::vector<Array<T, 3>> &model, bool free_surface,
                 const std::array<std::array<bool, 2>, 3> &cut, int64_t exchanged)
        : BoundWavefield<T>(*made, radius, has_y, shape, first, twice(fields), model, free_surface, cut, exchanged),
          physics(std::move(made)) {}

    void relax(const std::vector<Array<T, 3>> &zeta, const std::array<double, 3> &decay, int64_t mechanism,
               const Array<T, 3> &like) {
        Relaxation<T> &relaxation = physics->relaxation;
        require(zeta.size() == (this->w.has_y ? 6u : 3u), "a memory variable for each stress");
        require(mechanism >= 0, "the first cell has a mechanism");
        for (const Array<T, 3> &array : zeta) {
            check_arrays({{"zeta", array, shape_of<3>(like)}});
            relaxation.zeta.push_back(array.data());
            this->keep3.push_back(array);
        }
        relaxation.first = mechanism % 3;
        for (int64_t k = 0; k < this->w.n[2] + 2 + lanes<T>; ++k) {
            const double kept = decay[k % 3];
            require(kept >= 0 && kept < 1, "a mechanism's decay is 0 or more and less than 1");
            relaxation.decay.push_back(T(kept));
            relaxation.rest.push_back(T(1 - kept));
        }
    }
};

template <class T> void bind(nb::module_ &m, const char *name) {
    nb::class_<BoundElastic<T>> wavefield(m, name);
    wavefield
        .def(nb::init<bool, Index3, Index3, std::vector<Array<T, 3>>, std::vector<Array<T, 3>>, Input<T, 2>,
                      Input<T, 3>, bool, std::array<std::array<bool, 2>, 3>, int64_t, std::vector<Array<T, 3>>,
                      std::array<double, 3>, int64_t>(),
             nb::kw_only(), "has_y"_a, "shape"_a, "first"_a, "fields"_array, "model"_array, "weights"_array,
             "closure"_array, "free_surface"_a, "cut"_a, "exchanged"_a, "zeta"_array, "decay"_a, "mechanism"_a)
        .def("add_layer", &BoundElastic<T>::add_layer, nb::kw_only(), "axis"_a, "lo"_a, "hi"_a, "memory"_array,
             "gain"_array, "decay"_array, "keep"_array)
        .def("set_contact", &BoundElastic<T>::set_contact, nb::kw_only(), "first"_a, "last"_a, "start"_a, "table"_array,
             "keep"_array, "Derivatives next to a plane contact of a fluid and a solid.")
        .def("set_sloping_floor", &BoundElastic<T>::set_sloping_floor, nb::kw_only(), "depth"_array, "spacing"_a,
             "weights"_array, "inverse"_array, "derivative"_array, "water"_array, "buoyancy"_array,
             "Derivatives next to a contact of a fluid and a solid that slopes.")
        .def("watch_peaks", &BoundElastic<T>::watch_peaks, "plane"_a, "horizontal"_array, "vertical"_array,
             "Keep the largest velocities of the nodes of a plane from now on.");
    bind_propagation<T>(wavefield);
}

} // namespace

void bind_elastic(nb::module_ &m) {
    bind<float>(m, "ElasticFloat32");
    bind<double>(m, "ElasticFloat64");
}

} // namespace fathometer::elastic
