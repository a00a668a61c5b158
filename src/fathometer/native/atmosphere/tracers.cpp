// Semi-Lagrangian transport of tracers. The air at a place comes from where it was a step before: the end of a path
// through a middle that is found by iteration, with Cartesian vectors, so that poles are places like others, and with
// linear interpolation of winds. There tracers are interpolated by cubic polynomials along longitude, latitude and
// nominal pressure (linear between the first and the last two levels), and kept within the values around that place
// (Bermejo & Staniforth 1992, Mon. Weather Rev. 120, 2622): nothing new is larger or less than what there was.
#include "atmosphere.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "core/arithmetic.hpp"
#include "core/denormals.hpp"

namespace fathometer::atmosphere {

Axis::Axis(std::vector<double> given) : points(std::move(given)), scale(4 * points.size()) {
    for (std::size_t first = 0; first + 4 <= points.size(); ++first)
        for (std::size_t one = 0; one < 4; ++one) {
            double product = 1;
            for (std::size_t other = 0; other < 4; ++other)
                if (other != one)
                    product *= points[first + one] - points[first + other];
            scale[4 * first + one] = 1 / product;
        }
}

void Axis::weigh(int64_t first, double at, double *weights) const {
    const double *x = points.data() + first, *s = scale.data() + 4 * first;
    const double a = at - x[0], b = at - x[1], c = at - x[2], d = at - x[3];
    weights[0] = b * c * d * s[0], weights[1] = a * c * d * s[1];
    weights[2] = a * b * d * s[2], weights[3] = a * b * c * s[3];
}

Transport::Transport(int64_t longitudes, int64_t latitudes, std::vector<double> given)
    : longitudes(longitudes), latitudes(latitudes), along({-1, 0, 1, 2}), interfaces(std::move(given)) {
    const Latitudes gauss(latitudes);
    const auto north = int64_t(gauss.sine.size());
    std::vector<double> angles(static_cast<std::size_t>(latitudes + 4));
    for (int64_t row = 0; row < north; ++row) {
        const double z = gauss.sine[row], r = std::sqrt((1 - z) * (1 + z)), angle = std::atan2(r, z);
        sine.push_back(z), cosine.push_back(r);
        angles[row + 2] = angle, angles[latitudes + 1 - row] = std::numbers::pi - angle;
    }
    for (int64_t row = 0; row < 2; ++row) { // over the poles
        angles[1 - row] = -angles[2 + row];
        angles[latitudes + 2 + row] = 2 * std::numbers::pi - angles[latitudes + 1 - row];
    }
    for (int64_t column = 0; column < longitudes; ++column) {
        const double angle = 2 * std::numbers::pi * double(column) / double(longitudes);
        east_sine.push_back(std::sin(angle)), east_cosine.push_back(std::cos(angle));
    }
    std::vector<double> middle;
    for (std::size_t k = 0; k + 1 < interfaces.size(); ++k)
        middle.push_back(0.5 * (interfaces[k] + interfaces[k + 1]));
    colatitudes = Axis(std::move(angles)), heights = Axis(std::move(middle));
}

namespace {

struct Vector {
    double x, y, z;
};

// On the sphere: between two latitudes, of which `row` is the northern one (-1: the pole is between), and two
// longitudes.
struct Place {
    int64_t row, column;
    double colatitude, part; // part: of the interval of longitudes
};

// Between levels, by nominal pressure: the level above, and the part of the way to the next one; alike of interfaces.
struct Height {
    int64_t level, layer;
    double part, part_of_layer;
};

class Carrier {
  public:
    Carrier(const Transport &grid, int64_t first, int64_t slots, int64_t tracers, const double *room)
        : grid(grid), levels(grid.levels()), columns(wind_columns(levels) + tracers * levels), tracers(tracers),
          first(first), slots(slots), room(room) {}

    // Where the air of a place was; half: the step over twice the radius of the planet.
    void carry(Place place, int64_t level, double half, double step, double *result) const {
        const double north = ring_sine(place.row), r = ring_cosine(place.row);
        const Vector to{r * grid.east_cosine[place.column], r * grid.east_sine[place.column], north};
        const double height = grid.heights.points[level];
        Vector middle{};
        double rate = 0;
        Height at = find(height, level);
        for (int turn = 0; turn < 3; ++turn) {
            const Vector wind = wind_at(place, at, rate);
            middle = {to.x - half * wind.x, to.y - half * wind.y, to.z - half * wind.z};
            const double length = 1 / std::sqrt(middle.x * middle.x + middle.y * middle.y + middle.z * middle.z);
            middle.x *= length, middle.y *= length, middle.z *= length;
            if (turn < 2)
                place = find(middle), at = find(height - 0.5 * step * rate, level);
        }
        const double twice = 2 * (to.x * middle.x + to.y * middle.y + to.z * middle.z);
        place = find({twice * middle.x - to.x, twice * middle.y - to.y, twice * middle.z - to.z});
        at = find(height - step * rate, level);
        if (levels >= 4)
            interpolate<4>(place, at, result);
        else if (levels > 1)
            interpolate<2>(place, at, result);
        else
            interpolate<1>(place, at, result);
    }

    Place at(int64_t row, int64_t column) const { return {row, column, grid.colatitudes.points[row + 2], 0.0}; }

  private:
    const Transport &grid;
    int64_t levels, columns, tracers, first, slots;
    const double *room;

    int64_t pair_of(int64_t row) const { return std::min(row, grid.latitudes - 1 - row); }
    double ring_cosine(int64_t row) const { return grid.cosine[pair_of(row)]; }
    double ring_sine(int64_t row) const {
        return 2 * row < grid.latitudes ? grid.sine[row] : -grid.sine[grid.latitudes - 1 - row];
    }

    Place find(const Vector &point) const {
        constexpr double pi = std::numbers::pi;
        const auto &angles = grid.colatitudes.points;
        Place found{0, 0, std::atan2(std::sqrt(point.x * point.x + point.y * point.y), point.z), 0};
        double along = std::atan2(point.y, point.x) * (double(grid.longitudes) / (2 * pi));
        along = along < 0 ? along + double(grid.longitudes) : along;
        if (!(along >= 0 && along < double(grid.longitudes))) // rounded up
            along = 0;
        found.column = int64_t(along), found.part = along - double(found.column);
        const double guess = found.colatitude * (double(grid.latitudes) + 0.5) / pi - 0.75;
        int64_t row = guess > 0 ? std::min(int64_t(guess), grid.latitudes - 1) : 0;
        while (row < grid.latitudes - 1 && found.colatitude >= angles[row + 3])
            ++row;
        while (row >= 0 && found.colatitude < angles[row + 2])
            --row;
        found.row = row;
        return found;
    }

    // near: a level where to begin.
    Height find(double height, int64_t near) const {
        if (levels == 1)
            return {0, 0, 0, 0};
        const double *full = grid.heights.points.data(), *half = grid.interfaces.data();
        if (!(height > half[0]))
            height = half[0];
        height = std::min(height, half[levels]);
        int64_t layer = near;
        while (layer > 0 && height < half[layer])
            --layer;
        while (layer + 1 < levels && height >= half[layer + 1])
            ++layer;
        const int64_t level = std::clamp<int64_t>(height < full[layer] ? layer - 1 : layer, 0, levels - 2);
        const double part = (height - full[level]) / (full[level + 1] - full[level]);
        return {level, layer, std::clamp(part, 0.0, 1.0), (height - half[layer]) / (half[layer + 1] - half[layer])};
    }

    // The values at a latitude and longitude, which may lie beyond a pole: there it is half way round.
    struct Ring {
        const double *values;
        int64_t turn, row; // row: of the latitude itself
    };

    Ring ring(int64_t row) const {
        int64_t turn = 0;
        if (row < 0 || row >= grid.latitudes)
            row = row < 0 ? -1 - row : 2 * grid.latitudes - 1 - row, turn = grid.longitudes / 2;
        const int64_t slot = pair_of(row) - first, hemisphere = 2 * row < grid.latitudes ? 0 : 1;
        if (slot < 0 || slot >= slots)
            throw std::out_of_range("air comes from latitudes that are not here");
        return {room + (2 * slot + hemisphere) * grid.longitudes * columns, turn, row};
    }

    int64_t column_of(const Ring &ring, int64_t column) const {
        column += ring.turn;
        column = column < 0 ? column + grid.longitudes : column;
        return column >= grid.longitudes ? column - grid.longitudes : column;
    }

    // Linear: the wind, a vector, and the rate of the nominal pressure.
    Vector wind_at(const Place &place, const Height &at, double &rate) const {
        const auto &angles = grid.colatitudes.points;
        const double down =
            (place.colatitude - angles[place.row + 2]) / (angles[place.row + 3] - angles[place.row + 2]);
        const int64_t next = levels > 1 ? at.level + 1 : at.level;
        Vector sum{0, 0, 0};
        rate = 0;
        for (int64_t south = 0; south < 2; ++south) {
            const Ring from = ring(place.row + south);
            const double north = ring_sine(from.row), r = ring_cosine(from.row);
            for (int64_t east = 0; east < 2; ++east) {
                const double weight = (south ? down : 1 - down) * (east ? place.part : 1 - place.part);
                const int64_t column = column_of(from, place.column + east);
                const double *u = from.values + column * columns, *v = u + levels, *through = v + levels;
                const double c = grid.east_cosine[column], s = grid.east_sine[column];
                const double eastward = weight * madd(at.part, u[next] - u[at.level], u[at.level]);
                const double northward = weight * madd(at.part, v[next] - v[at.level], v[at.level]);
                sum.x -= eastward * s + northward * north * c;
                sum.y += eastward * c - northward * north * s;
                sum.z += northward * r;
                const double *full = grid.heights.points.data();
                const auto fall = [=, levels = levels](int64_t k) { // at the interface over level k
                    return k > 0 && k < levels ? through[k - 1] * (full[k] - full[k - 1]) : 0.0;
                };
                const double above = fall(at.layer);
                rate += weight * madd(at.part_of_layer, fall(at.layer + 1) - above, above);
            }
        }
        return sum;
    }

    // Cubic, kept within the values around. lanes: levels that are read.
    template <int lanes> void interpolate(const Place &place, const Height &at, double *result) const {
        double across[4], along[4], down[4] = {1, 0, 0, 0};
        grid.colatitudes.weigh(place.row + 1, place.colatitude, across);
        grid.along.weigh(0, place.part, along);
        int64_t top = lanes == 4 ? std::clamp<int64_t>(at.level - 1, 0, levels - 4) : at.level;
        const auto upper = int(at.level - top);
        if (lanes == 4 && upper == 1)
            grid.heights.weigh(top,
                               madd(at.part, grid.heights.points[at.level + 1] - grid.heights.points[at.level],
                                    grid.heights.points[at.level]),
                               down);
        else if (lanes > 1)
            down[0] = 0, down[upper] = 1 - at.part, down[upper + 1] = at.part;
        const double *points[4][4];
        for (int n = 0; n < 4; ++n) {
            const Ring from = ring(place.row - 1 + n);
            for (int m = 0; m < 4; ++m)
                points[n][m] =
                    from.values + column_of(from, place.column - 1 + m) * columns + wind_columns(levels) + top;
        }
        for (int64_t tracer = 0; tracer < tracers; ++tracer) {
            double sums[lanes] = {};
            for (int n = 0; n < 4; ++n)
                for (int m = 0; m < 4; ++m)
                    for (int k = 0; k < lanes; ++k)
                        sums[k] = madd(across[n] * along[m], points[n][m][tracer * levels + k], sums[k]);
            double sum = 0;
            for (int k = 0; k < lanes; ++k)
                sum = madd(down[k], sums[k], sum);
            double least = points[1][1][tracer * levels + upper], largest = least;
            for (int n = 1; n < 3; ++n)
                for (int m = 1; m < 3; ++m)
                    for (int k = upper; k < upper + std::min(lanes, 2); ++k) {
                        const double value = points[n][m][tracer * levels + k];
                        least = std::min(least, value), largest = std::max(largest, value);
                    }
            result[tracer * levels] = std::clamp(sum, least, largest);
        }
    }
};

} // namespace

void carry_pair(const Transport &grid, int64_t pair, int64_t first, int64_t slots, int64_t tracers, double radius,
                double step, const double *room, double *result) {
    FlushDenormals guard;
    const Carrier carrier(grid, first, slots, tracers, room);
    const int64_t levels = grid.levels();
    for (int64_t hemisphere = 0; hemisphere < 2; ++hemisphere)
        for (int64_t column = 0; column < grid.longitudes; ++column)
            for (int64_t level = 0; level < levels; ++level) {
                const int64_t row = hemisphere ? grid.latitudes - 1 - pair : pair;
                double *to = result + (hemisphere * grid.longitudes + column) * tracers * levels + level;
                carrier.carry(carrier.at(row, column), level, step / (2 * radius), step, to);
            }
}

} // namespace fathometer::atmosphere
