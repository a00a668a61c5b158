#include "bindings.hpp"

#include <algorithm>
#include <vector>

#include "bank.hpp"
#include "core/arrays.hpp"
#include "operator.hpp"

namespace fathometer::kirchhoff {

namespace {

Bank bank_of(int64_t rows, int64_t samples, int64_t unit) {
    require(rows >= 1 && rows <= most_rows && samples >= 1 && unit >= 1, "rows, samples and unit are at least 1");
    // Smoothing spreads a trace by half a triangle at most; beyond is nothing, also for interpolation. The same for
    // any rows, since places in a row are rounded.
    return {rows, samples, half_length(unit, most_rows - 1) + 2, unit};
}

// What is bound of an operator on a tile of an image.
class TimeOperator {
  public:
    TimeOperator(Input<float, 3> slowness2, std::optional<Input<float, 3>> eta, std::array<int64_t, 2> first,
                 std::array<double, 3> origin, std::array<double, 3> spacing, int weights, double scale,
                 double aperture, double tan_dip, double taper, std::array<double, 2> alias, int64_t rows, int64_t unit)
        : slowness2(slowness2), eta(eta), op{Weights(weights), scale, aperture, tan_dip, taper, alias[0], alias[1]},
          rows(rows), unit(unit) {
        const auto [nx, ny, nt] = shape_of<3>(slowness2);
        require(nt % segment == 0 && nt > 0, "columns are whole segments");
        require(weights >= 0 && weights <= int(Weights::line_2d), "weights");
        check_arrays({{"eta", eta, {nx, ny, nt}}});
        tile = {
            0,         nx,         ny,         nt / segment, first[0],   first[1],         origin[0],
            origin[1], spacing[0], spacing[1], origin[2],    spacing[2], slowness2.data(), eta ? eta->data() : nullptr,
            nullptr,   nullptr,    nullptr,    nullptr,      nullptr};
        node_slowness2 = at_nodes(slowness2.data());
        if (eta)
            for (const float e : at_nodes(eta->data())) {
                node_g.push_back(1.0f / (1.0f + 2.0f * e));
                node_b.push_back(0.25f / (1.0f + e));
            }
    }

    int64_t migrate(Input<float, 2> traces, Input<double, 2> geometry, Input<int32_t, 1> volume, double first,
                    double interval, Array<float, 4> image, std::optional<Array<float, 3>> fold,
                    Array<float, 1> workspace, bool plainly) const {
        Traces set = traces_of(shape_of<2>(traces), geometry, volume, first, interval);
        const int64_t size = set.bank.rows * set.bank.length(), together = int64_t(workspace.shape(0)) / size;
        check_arrays(
            {{"workspace", workspace, {size}, at_least}, {"fold", fold, {tile.nx, tile.ny, tile.segments + 1}}});
        Tile here = with_image(image, set);
        if (fold)
            here.fold = fold->data();
        int64_t done = 0;
        const int64_t count = set.count;
        for (int64_t begin = 0; begin < count; begin += together) {
            set.count = std::min(together, count - begin);
            std::fill_n(workspace.data(), set.count * size, 0.0f);
            fill_bank(set.bank, traces.data() + begin * set.bank.samples, set.count, workspace.data());
            set.rows = workspace.data();
            set.geometry = geometry.data() + 5 * begin;
            set.volume = volume.data() + begin;
            done += plainly ? fathometer::kirchhoff::migrate_plainly(here, set, op)
                            : fathometer::kirchhoff::migrate(here, set, op);
        }
        return done;
    }

    void demigrate(Array<float, 4> image, Input<double, 2> geometry, Input<int32_t, 1> volume, double first,
                   double interval, Array<float, 2> traces, Array<float, 1> workspace) const {
        Traces set = traces_of(shape_of<2>(traces), geometry, volume, first, interval);
        const int64_t size = set.bank.rows * set.bank.length(), together = int64_t(workspace.shape(0)) / size;
        check_arrays({{"workspace", workspace, {size}, at_least}});
        const Tile here = with_image(image, set);
        const int64_t count = set.count;
        for (int64_t begin = 0; begin < count; begin += together) {
            set.count = std::min(together, count - begin);
            std::fill_n(workspace.data(), set.count * size, 0.0f);
            set.geometry = geometry.data() + 5 * begin;
            set.volume = volume.data() + begin;
            fathometer::kirchhoff::demigrate(here, set, op, workspace.data());
            gather_bank(set.bank, workspace.data(), set.count, traces.data() + begin * set.bank.samples);
        }
    }

  private:
    Traces traces_of(const std::array<int64_t, 2> &shape, const Input<double, 2> &geometry,
                     const Input<int32_t, 1> &volume, double first, double interval) const {
        const auto [count, samples] = shape;
        check_arrays({{"geometry", geometry, {count, 5}}, {"volume", volume, {count}}});
        return {bank_of(rows, samples, unit), count, nullptr, geometry.data(), volume.data(), first, interval};
    }

    Tile with_image(const Array<float, 4> &image, const Traces &set) const {
        const int64_t volumes = shape_of<4>(image)[0];
        check_arrays({{"image", image, {volumes, tile.nx, tile.ny, tile.segments * segment}}});
        for (int64_t t = 0; t < set.count; ++t)
            require(set.volume[t] < volumes, "a trace of no volume");
        Tile here = tile;
        here.node_slowness2 = node_slowness2.data();
        here.node_g = node_g.data();
        here.node_b = node_b.data();
        here.volumes = volumes;
        here.image = image.data();
        return here;
    }

    // The first sample of every segment, and the last one of the column.
    std::vector<float> at_nodes(const float *values) const {
        std::vector<float> result;
        const int64_t length = tile.segments * segment;
        for (int64_t column = 0; column < tile.nx * tile.ny; ++column)
            for (int64_t s = 0; s <= tile.segments; ++s)
                result.push_back(values[column * length + std::min(s * segment, length - 1)]);
        return result;
    }

    Input<float, 3> slowness2;
    std::optional<Input<float, 3>> eta;
    std::vector<float> node_slowness2, node_g, node_b;
    Operator op;
    int64_t rows, unit;
    Tile tile;
};

} // namespace

void bind_kirchhoff(nb::module_ &m) {
    m.attr("KIRCHHOFF_SEGMENT") = segment;
    m.attr("MOST_BANK_ROWS") = most_rows;
    m.def(
        "bank_length",
        [](int64_t rows, int64_t samples, int64_t unit) { return bank_of(rows, samples, unit).length(); }, "rows"_a,
        "samples"_a, "unit"_a);
    m.def("bank_row", [](double length) { return row_of(float(length), most_rows); }, "length"_a);
    nb::class_<TimeOperator>(m, "TimeOperator")
        .def(nb::init<Input<float, 3>, std::optional<Input<float, 3>>, std::array<int64_t, 2>, std::array<double, 3>,
                      std::array<double, 3>, int, double, double, double, double, std::array<double, 2>, int64_t,
                      int64_t>(),
             nb::kw_only(), "slowness2"_array, "eta"_array.none(), "first"_a, "origin"_a, "spacing"_a, "weights"_a,
             "scale"_a, "aperture"_a, "tan_dip"_a, "taper"_a, "alias"_a, "rows"_a, "unit"_a, nb::keep_alive<1, 2>())
        .def("migrate", &TimeOperator::migrate, nb::kw_only(), "traces"_array, "geometry"_array, "volume"_array,
             "first"_a, "interval"_a, "image"_array, "fold"_array.none(), "workspace"_array, "plainly"_a, Unlocked())
        .def("demigrate", &TimeOperator::demigrate, nb::kw_only(), "image"_array, "geometry"_array, "volume"_array,
             "first"_a, "interval"_a, "traces"_array, "workspace"_array, Unlocked());
}

} // namespace fathometer::kirchhoff
