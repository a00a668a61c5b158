#include "equation_of_state.hpp"

#include "core/denormals.hpp"

namespace fathometer::ocean {

void wright_density(int64_t n, const double *temperature, const double *salinity, const double *pressure,
                    double *density) {
#pragma omp parallel for schedule(static) if (n >= 65536)
    for (int64_t i = 0; i < n; ++i) {
        const Wright<double> water(temperature[i], salinity[i]);
        density[i] = water.numerator(pressure[i]) / water.denominator(pressure[i]);
    }
}

namespace {

struct Scratch {
    FlushDenormals flush;
    std::vector<double> weight; // g r dz / 2
    explicit Scratch(int64_t nz) : weight(nz) {}
};

} // namespace

void pressure(const Grid &grid, const Numbers &numbers, const double *tracers, const double *eta, double *p) {
    const int64_t nz = grid.nz;
    std::vector<double> rest(nz), half(nz);
    for (int64_t k = 0; k < nz; ++k) {
        rest[k] = numbers.density * numbers.gravity * (0.5 * (grid.bottoms[k] + grid.bottoms[k + 1]));
        half[k] = numbers.gravity * (0.5 * grid.thickness[k]);
    }
    const double inverse = 1 / numbers.density;
    over_tiles(
        grid, [&] { return Scratch(nz); },
        [&](const Tile &tile, Scratch &scratch) {
            double *weight = scratch.weight.data();
            for (int64_t x = tile.x0; x < tile.x1 + tile.last_x; ++x)
                for (int64_t y = tile.y0; y < tile.y1 + tile.last_y; ++y) {
                    const int64_t column = grid.column(tile.block, x, y), n = grid.levels[column];
                    if (n == 0)
                        continue;
                    const double *t = tracers + column * nz, *s = t + grid.cells();
                    if (numbers.state_equation == StateEquation::linear)
#pragma omp simd
                        for (int64_t k = 0; k < n; ++k)
                            weight[k] = half[k] * (numbers.contraction * (s[k] - numbers.reference_salinity) -
                                                   numbers.expansion * (t[k] - numbers.reference_temperature));
                    else
#pragma omp simd
                        for (int64_t k = 0; k < n; ++k) {
                            const Wright<double> water(t[k], s[k]);
                            const double density = water.numerator(rest[k]) / water.denominator(rest[k]);
                            weight[k] = half[k] * (density * inverse - 1);
                        }
                    double *out = p + column * nz;
                    double sum = weight[0] * (1 + 2 * eta[column] / grid.thickness[0]);
                    out[0] = sum;
                    for (int64_t k = 1; k < n; ++k)
                        out[k] = sum += weight[k - 1] + weight[k];
                }
        });
}

} // namespace fathometer::ocean
