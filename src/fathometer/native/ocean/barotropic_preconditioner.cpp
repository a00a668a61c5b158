#include "barotropic_preconditioner.hpp"

#include <cmath>

#include "barotropic_bands.hpp"

namespace fathometer::ocean {

Preconditioner::Preconditioner(const WaterRows &rows, int64_t tile, const uint8_t *wet) : rows(rows), tile(tile) {
    if (tile == 0) {
        inverse_diagonal.resize(rows.size());
        return;
    }
    for (int64_t b = 0; b < rows.blocks; ++b) {
        const int64_t end_x = WaterRows::halo + rows.extents[2 * b], end_y = WaterRows::halo + rows.extents[2 * b + 1];
        for (int64_t x = WaterRows::halo; x < end_x; x += tile)
            for (int64_t y = WaterRows::halo; y < end_y; y += tile) {
                const Tile found{b, x, y, std::min(tile, end_x - x), std::min(tile, end_y - y)};
                bool water = false;
                for (int64_t i = x; i < x + found.nx; ++i)
                    for (int64_t j = y; j < y + found.ny; ++j)
                        water |= wet[(b * rows.nx + i) * rows.ny + j] != 0;
                if (water)
                    tiles.push_back(found);
            }
    }
    while (tiles.size() % lanes)
        tiles.push_back({0, 0, 0, 0, 0});
    whole.resize(tiles.size() / lanes, tile == 8);
    for (size_t n = 0; n < tiles.size(); ++n)
        whole[n / lanes] &= tiles[n].nx == 8 && tiles[n].ny == 8;
    factors.resize(tiles.size() * unknowns() * (band() + 1));
}

void Preconditioner::factor(const SurfaceOperator &at_rest) {
    if (diagonal()) {
        rows.over_rows([&](const WaterRow &row, int64_t) {
            for (int64_t y = row.y0; y < row.y1; ++y)
                inverse_diagonal[row.start + y] = 1 / at_rest.entries(row.block, row.x, y).own;
        });
        return;
    }
    const int64_t batches = int64_t(tiles.size()) / lanes;
#pragma omp parallel for schedule(static) if (batches > 1)
    for (int64_t batch = 0; batch < batches; ++batch)
        factor_batch(at_rest, batch);
}

void Preconditioner::factor_batch(const SurfaceOperator &at_rest, int64_t batch) {
    const FlushDenormals flush;
    const int64_t n = unknowns(), width = band();
    double *factor = factors.data() + batch * n * row_size();
    std::fill(factor, factor + n * row_size(), 0.0);
    // Where L_i,i-k stands; k = 0: the diagonal.
    const auto at = [&](int64_t i, int64_t k) { return factor + i * row_size() + (width - k) * lanes; };
    for (int lane = 0; lane < lanes; ++lane) {
        const Tile &t = tiles[batch * lanes + lane];
        for (int64_t i = 0; i < n; ++i)
            at(i, 0)[lane] = 1;
        for (int64_t x = 0; x < t.nx; ++x)
            for (int64_t y = 0; y < t.ny; ++y) {
                const SurfaceOperator::Entries a = at_rest.entries(t.block, t.x + x, t.y + y);
                const int64_t i = x * tile + y;
                const bool east = x + 1 < t.nx, north = y + 1 < t.ny;
                at(i, 0)[lane] = a.own;
                if (east)
                    at(i + tile, tile)[lane] += a.x;
                if (north)
                    at(i + 1, 1)[lane] += a.y;
                if (east && north) {
                    at(i + tile + 1, tile + 1)[lane] += a.diagonal;
                    at(i + tile, tile - 1)[lane] += a.other_diagonal;
                }
            }
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = std::min(width, i); k >= 0; --k) {
            const int64_t j = i - k;
            double *entry = at(i, k);
            for (int lane = 0; lane < lanes; ++lane) {
                double sum = entry[lane];
                for (int64_t m = std::max(int64_t(0), i - width); m < j; ++m)
                    sum -= at(i, i - m)[lane] * at(j, j - m)[lane];
                entry[lane] = k ? sum * at(j, 0)[lane] : 1 / std::sqrt(sum);
            }
        }
}

void Preconditioner::gather(int64_t batch, const double *from, double *scratch) const {
    if (whole[batch]) {
        for (int64_t x = 0; x < 8; ++x) {
            Eight rows_of_y[8];
            for (int lane = 0; lane < lanes; ++lane)
                load_eight(rows_of_y[lane], from + start(batch, lane, x));
            transpose(rows_of_y);
            for (int64_t y = 0; y < 8; ++y)
                store_eight(scratch + (x * 8 + y) * lanes, rows_of_y[y]);
        }
        return;
    }
    std::fill(scratch, scratch + unknowns() * lanes, 0.0);
    for (int lane = 0; lane < lanes; ++lane) {
        const Tile &t = tiles[batch * lanes + lane];
        for (int64_t x = 0; x < t.nx; ++x)
            for (int64_t y = 0; y < t.ny; ++y)
                scratch[(x * tile + y) * lanes + lane] = from[start(batch, lane, x) + y];
    }
}

void Preconditioner::scatter(int64_t batch, const double *scratch, double *to) const {
    if (whole[batch]) {
        for (int64_t x = 0; x < 8; ++x) {
            Eight rows_of_lanes[8];
            for (int64_t y = 0; y < 8; ++y)
                load_eight(rows_of_lanes[y], scratch + (x * 8 + y) * lanes);
            transpose(rows_of_lanes);
            for (int lane = 0; lane < lanes; ++lane)
                store_eight(to + start(batch, lane, x), rows_of_lanes[lane]);
        }
        return;
    }
    for (int lane = 0; lane < lanes; ++lane) {
        const Tile &t = tiles[batch * lanes + lane];
        for (int64_t x = 0; x < t.nx; ++x)
            for (int64_t y = 0; y < t.ny; ++y)
                to[start(batch, lane, x) + y] = scratch[(x * tile + y) * lanes + lane];
    }
}

void Preconditioner::solve_batch(int64_t batch, double *scratch) const {
    const int64_t n = unknowns();
    const double *factor = factors.data() + batch * n * row_size();
    if (tile == 4)
        solve_band<5>(factor, scratch, n);
    else if (tile == 8)
        solve_band<9>(factor, scratch, n);
    else if (tile == 16)
        solve_band<17>(factor, scratch, n);
    else
        solve_any_band(factor, scratch, n, band());
}

void Preconditioner::apply(const double *from, double *to) const {
    if (diagonal()) {
        rows.over_rows([&](const WaterRow &row, int64_t) {
            for (int64_t k = row.start + row.y0; k < row.start + row.y1; ++k)
                to[k] = inverse_diagonal[k] * from[k];
        });
        return;
    }
    const int64_t batches = int64_t(tiles.size()) / lanes;
#pragma omp parallel if (batches > 1)
    {
        const FlushDenormals flush;
        static thread_local std::vector<double> scratch;
        scratch.resize(unknowns() * lanes);
#pragma omp for schedule(static)
        for (int64_t batch = 0; batch < batches; ++batch) {
            gather(batch, from, scratch.data());
            solve_batch(batch, scratch.data());
            scatter(batch, scratch.data(), to);
        }
    }
}

} // namespace fathometer::ocean
