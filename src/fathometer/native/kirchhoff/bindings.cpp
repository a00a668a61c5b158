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
        require(slowness2.shape(2) % segment == 0 && slowness2.shape(2) > 0, "columns are whole segments");
        require(weights >= 0 && weights <= int(Weights::line_2d), "weights");
        require(!eta || std::equal(eta->shape_ptr(), eta->shape_ptr() + 3, slowness2.shape_ptr()), "eta's shape");
        tile = {0,
                int64_t(slowness2.shape(0)),
                int64_t(slowness2.shape(1)),
                int64_t(slowness2.shape(2)) / segment,
                first[0],
                first[1],
                origin[0],
                origin[1],
                spacing[0],
                spacing[1],
                origin[2],
                spacing[2],
                slowness2.data(),
                eta ? eta->data() : nullptr,
                nullptr,
                nullptr,
                nullptr,
                nullptr,
                nullptr};
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
        Traces set = traces_of(traces.shape(0), traces.shape(1), geometry, volume, first, interval);
        const int64_t size = set.bank.rows * set.bank.length(), together = int64_t(workspace.shape(0)) / size;
        require(together >= 1, "the workspace holds the bank of a trace");
        Tile here = with_image(image, set);
        if (fold) {
            require(std::equal(fold->shape_ptr(), fold->shape_ptr() + 2, slowness2.shape_ptr()) &&
                        int64_t(fold->shape(2)) == tile.segments + 1,
                    "fold: (nx, ny, nodes)");
            here.fold = fold->data();
        }
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
        Traces set = traces_of(traces.shape(0), traces.shape(1), geometry, volume, first, interval);
        const int64_t size = set.bank.rows * set.bank.length(), together = int64_t(workspace.shape(0)) / size;
        require(together >= 1, "the workspace holds the bank of a trace");
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
    Traces traces_of(std::size_t count, std::size_t samples, const Input<double, 2> &geometry,
                     const Input<int32_t, 1> &volume, double first, double interval) const {
        require(geometry.shape(0) == count && geometry.shape(1) == 5, "geometry: (traces, 5)");
        require(volume.shape(0) == count, "volume: (traces,)");
        return {bank_of(rows, int64_t(samples), unit),
                int64_t(count),
                nullptr,
                geometry.data(),
                volume.data(),
                first,
                interval};
    }

    Tile with_image(const Array<float, 4> &image, const Traces &set) const {
        require(std::equal(image.shape_ptr() + 1, image.shape_ptr() + 4, slowness2.shape_ptr()), "the image's shape");
        for (int64_t t = 0; t < set.count; ++t)
            require(set.volume[t] < int64_t(image.shape(0)), "a trace of no volume");
        Tile here = tile;
        here.node_slowness2 = node_slowness2.data();
        here.node_g = node_g.data();
        here.node_b = node_b.data();
        here.volumes = int64_t(image.shape(0));
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
             nb::kw_only(), "slowness2"_a, "eta"_a.none(), "first"_a, "origin"_a, "spacing"_a, "weights"_a, "scale"_a,
             "aperture"_a, "tan_dip"_a, "taper"_a, "alias"_a, "rows"_a, "unit"_a, nb::keep_alive<1, 2>())
        .def("migrate", &TimeOperator::migrate, nb::kw_only(), "traces"_a, "geometry"_a, "volume"_a, "first"_a,
             "interval"_a, "image"_a, "fold"_a.none(), "workspace"_a, "plainly"_a, Unlocked())
        .def("demigrate", &TimeOperator::demigrate, nb::kw_only(), "image"_a, "geometry"_a, "volume"_a, "first"_a,
             "interval"_a, "traces"_a, "workspace"_a, Unlocked());
}

} // namespace fathometer::kirchhoff
