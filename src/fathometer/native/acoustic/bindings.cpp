#include "bindings.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "acoustic.hpp"
#include "core/bound_wavefield.hpp"

namespace fathometer::acoustic {

namespace {

// The equation that has so many arrays.
template <class T>
std::unique_ptr<Acoustic<T>> physics_of(const std::vector<Array<T, 3>> &buffers,
                                        const std::vector<Array<T, 3>> &model) {
    require(buffers.size() == 2 || buffers.size() == 4, "two time levels of one or two fields are needed");
    std::unique_ptr<Acoustic<T>> physics = buffers.size() == 2 ? isotropic<T>() : vti<T>();
    require(int(model.size()) == physics->models, "one model array for one field, three for two");
    return physics;
}

template <class T> class BoundAcoustic : public BoundWavefield<T> {
  public:
    BoundAcoustic(int radius, bool has_y, Index3 shape, Index3 first, std::vector<Array<T, 3>> buffers,
                  std::vector<Array<T, 3>> model, Input<T, 2> weights, Input<T, 2> staggered,
                  std::vector<Array<T, 1>> damping, bool free_surface, std::array<std::array<bool, 2>, 3> cut,
                  int64_t exchanged)
        : BoundAcoustic(physics_of(buffers, model), radius, has_y, shape, first, buffers, model, weights, staggered,
                        damping, free_surface, cut, exchanged) {}

    void add_layer(int axis, bool first, bool in_row, int64_t cell_lo, int64_t half_lo, int64_t psi_first,
                   Array<T, 3> psi, Array<T, 3> zeta, Array<T, 1> psi_gain, Array<T, 1> psi_decay,
                   Array<T, 1> zeta_gain, Array<T, 1> zeta_decay) {
        Layer<T> layer{};
        layer.axis = axis;
        layer.first = first;
        layer.in_row = in_row;
        layer.cell_lo = cell_lo;
        layer.cell_hi = cell_lo + shape_of<1>(zeta_gain)[0];
        layer.half_lo = half_lo;
        layer.half_hi = half_lo + shape_of<1>(psi_gain)[0];
        layer.psi = psi.data();
        layer.psi_first = psi_first;
        layer.zeta = zeta.data();
        const int64_t reach = (this->w.radius + 1) / 2;
        require(axis >= 0 && axis < 3, "a layer lies along an axis");
        require(!in_row || axis == 2, "rows lie along z");
        const int64_t cells = layer.cell_hi - cell_lo, whole = (cells + lanes<T> - 1) / lanes<T> * lanes<T>;
        if (in_row)
            require(psi_first == cell_lo && psi.stride(0) == zeta.stride(0) && psi.stride(1) == zeta.stride(1) &&
                        cell_lo <= half_lo && layer.half_hi <= layer.cell_hi,
                    "psi and its half points lie as the layer's cells do");
        else
            require(psi_first <= std::min(cell_lo - reach, half_lo),
                    "psi begins with the half points that the layer's cells reach, or before");
        // A layer's memory covers its cells, or the half points that these reach, and the owned cells of the other
        // axes.
        Index3 psi_shape{this->w.n[0], this->w.n[1], this->w.n[2]}, zeta_shape = psi_shape;
        psi_shape[axis] = in_row ? whole : std::max(layer.cell_hi + reach - 1, layer.half_hi) - psi_first;
        zeta_shape[axis] = in_row ? whole : cells;
        check_arrays({{"psi", psi, psi_shape, at_least},
                      {"zeta", zeta, zeta_shape, at_least},
                      {"psi_decay", psi_decay, shape_of<1>(psi_gain)},
                      {"zeta_decay", zeta_decay, shape_of<1>(zeta_gain)}});
        for (int a = 0; a < 2; ++a) {
            layer.psi_stride[a] = psi.stride(a);
            layer.zeta_stride[a] = zeta.stride(a);
        }
        layer.psi_gain = psi_gain.data();
        layer.psi_decay = psi_decay.data();
        layer.zeta_gain = zeta_gain.data();
        layer.zeta_decay = zeta_decay.data();
        physics->pml.layers.push_back(layer);
        for (auto &a : {psi, zeta})
            this->keep3.push_back(a);
        for (auto &a : {psi_gain, psi_decay, zeta_gain, zeta_decay})
            this->keep1.push_back(a);
    }

  private:
    std::unique_ptr<Acoustic<T>> physics;

    BoundAcoustic(std::unique_ptr<Acoustic<T>> made, int radius, bool has_y, const Index3 &shape, const Index3 &first,
                  const std::vector<Array<T, 3>> &buffers, const std::vector<Array<T, 3>> &model,
                  const Input<T, 2> &weights, const Input<T, 2> &staggered, const std::vector<Array<T, 1>> &damping,
                  bool free_surface, const std::array<std::array<bool, 2>, 3> &cut, int64_t exchanged)
        : BoundWavefield<T>(*made, radius, has_y, shape, first, buffers, model, free_surface, cut, exchanged),
          physics(std::move(made)) {
        check_arrays({{"weights", weights, {3, radius + 1}}, {"staggered", staggered, {3, (radius + 1) / 2}}});
        require(damping.empty() || damping.size() == 3, "damping needs one profile an axis");
        for (int axis = 0; axis < 3; ++axis) {
            for (int r = 0; r <= radius; ++r) {
                require(std::isfinite(weights(axis, r)), "a weight of the stencil is not finite");
                this->w.weights[axis][r] = weights(axis, r);
            }
            for (int m = 0; m < (radius + 1) / 2; ++m)
                physics->pml.staggered[axis][m] = staggered(axis, m);
            if (!damping.empty()) {
                check_arrays({{"damping", damping[axis], {shape[axis]}}});
                physics->sponge.eta_dt[axis] = damping[axis].data();
            }
        }
        this->keep1 = damping;
    }
};

template <class T> void bind(nb::module_ &m, const char *name) {
    nb::class_<BoundAcoustic<T>> wavefield(m, name);
    wavefield
        .def(nb::init<int, bool, Index3, Index3, std::vector<Array<T, 3>>, std::vector<Array<T, 3>>, Input<T, 2>,
                      Input<T, 2>, std::vector<Array<T, 1>>, bool, std::array<std::array<bool, 2>, 3>, int64_t>(),
             nb::kw_only(), "radius"_a, "has_y"_a, "shape"_a, "first"_a, "buffers"_array, "model"_array,
             "weights"_array, "staggered"_array, "damping"_array, "free_surface"_a, "cut"_a, "exchanged"_a)
        .def("add_layer", &BoundAcoustic<T>::add_layer, nb::kw_only(), "axis"_a, "first"_a, "in_row"_a, "cell_lo"_a,
             "half_lo"_a, "psi_first"_a, "psi"_array, "zeta"_array, "psi_gain"_array, "psi_decay"_array,
             "zeta_gain"_array, "zeta_decay"_array);
    bind_propagation<T>(wavefield);
}

} // namespace

void bind_acoustic(nb::module_ &m) {
    bind<float>(m, "WavefieldFloat32");
    bind<double>(m, "WavefieldFloat64");
}

} // namespace fathometer::acoustic
