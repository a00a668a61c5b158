#include "barotropic_operator.hpp"

namespace fathometer::ocean {

namespace {

// X + Y and X - Y at the corners y0 - 1 <= y < y1 between a row of cells and the next one along x.
void corners(const double *h, const double *across, const double *along, const double *here, const double *next,
             int64_t y0, int64_t y1, double *__restrict sum, double *__restrict difference) {
    for (int64_t y = y0 - 1; y < y1; ++y) {
        const double a = here[y], b = next[y], c = here[y + 1], d = next[y + 1];
        const double x_part = across[y] * ((b - a) + (d - c)), y_part = along[y] * ((c - a) + (d - b));
        sum[y] = h[y] * (x_part + y_part);
        difference[y] = h[y] * (x_part - y_part);
    }
}

} // namespace

SurfaceOperator::SurfaceOperator(const WaterRows &rows, const double *area, const double *ratio_x,
                                 const double *ratio_y, const double *depth)
    : rows(rows), area(area, area + rows.blocks * rows.ny), ratio_x(ratio_x, ratio_x + rows.blocks * rows.ny),
      ratio_y(ratio_y, ratio_y + rows.blocks * rows.ny), depth(depth, depth + rows.size()), across(this->ratio_x),
      along(this->ratio_y), h(this->depth) {}

void SurfaceOperator::scale(double k) {
    for (size_t n = 0; n < ratio_x.size(); ++n) {
        across[n] = k * ratio_x[n];
        along[n] = k * ratio_y[n];
    }
    h = depth;
}

void SurfaceOperator::surface(const double *eta) {
    const int64_t ny = rows.ny;
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t b = 0; b < rows.blocks; ++b)
        for (int64_t n = 0; n < rows.nx - 1; ++n) { // of corners that cells of the block have
            const int64_t end = WaterRows::halo + rows.extents[2 * b + 1];
            if (n < WaterRows::halo - 1 || n >= WaterRows::halo + rows.extents[2 * b])
                continue;
            const double *here = eta + (b * rows.nx + n) * ny, *next = here + ny;
            const double *rest = depth.data() + (b * rows.nx + n) * ny;
            double *out = h.data() + (b * rows.nx + n) * ny;
            for (int64_t y = WaterRows::halo - 1; y < end; ++y) {
                const double mean = 0.25 * ((here[y] + next[y]) + (here[y + 1] + next[y + 1]));
                out[y] = rest[y] > 0 ? rest[y] + mean : 0.0;
            }
        }
}

// finish(row, number, product): product[y] for row.y0 <= y < row.y1.
template <class Finish> void SurfaceOperator::over(const double *from, const Finish &finish) const {
    const int64_t ny = rows.ny;
    rows.over_strips([&](const Strip &strip) {
        static thread_local std::vector<double> scratch;
        if (int64_t(scratch.size()) < 5 * ny)
            scratch.resize(5 * ny);
        double *sum = scratch.data(), *difference = sum + ny, *south_sum = difference + ny,
               *south_difference = south_sum + ny, *product = south_difference + ny;
        const int64_t y0 = strip.y0, y1 = strip.y1;
        const WaterRow &first = rows.rows[strip.first];
        const double *dx = across.data() + first.block * ny, *dy = along.data() + first.block * ny;
        const double *cell = area.data() + first.block * ny;
        const auto between = [&](int64_t start, double *s, double *d) {
            corners(h.data() + start, dx, dy, from + start, from + start + ny, y0, y1, s, d);
        };
        between(first.start - ny, south_sum, south_difference);
        for (int64_t n = strip.first; n < strip.last; ++n) {
            const WaterRow &row = rows.rows[n];
            between(row.start, sum, difference);
            const double *own = from + row.start;
            for (int64_t y = row.y0; y < row.y1; ++y)
                product[y] =
                    cell[y] * own[y] + ((south_sum[y - 1] - sum[y]) + (south_difference[y] - difference[y - 1]));
            finish(row, n, product);
            std::swap(sum, south_sum);
            std::swap(difference, south_difference);
        }
    });
}

void SurfaceOperator::apply(const double *from, double *to, const Products &products, Sums &sums) const {
    over(from, [&](const WaterRow &row, int64_t number, const double *product) {
        std::copy(product + row.y0, product + row.y1, to + row.start + row.y0);
        for (int n = 0; n < products.count; ++n)
            sums.add(n, row, number, products.v[n], products.w[n]);
    });
}

void SurfaceOperator::residual(const double *of, const double *from, double *to) const {
    over(from, [&](const WaterRow &row, int64_t, const double *product) {
        for (int64_t y = row.y0; y < row.y1; ++y)
            to[row.start + y] = of[row.start + y] - product[y];
    });
}

SurfaceOperator::Entries SurfaceOperator::entries(int64_t block, int64_t x, int64_t y) const {
    const double *dx = across.data() + block * rows.ny, *dy = along.data() + block * rows.ny;
    const auto at = [&](int64_t i, int64_t j, double sign) {
        return h[(block * rows.nx + i) * rows.ny + j] * (dx[j] + sign * dy[j]);
    };
    return {area[block * rows.ny + y] + ((at(x - 1, y - 1, 1) + at(x, y, 1)) + (at(x - 1, y, 1) + at(x, y - 1, 1))),
            -(at(x, y, -1) + at(x, y - 1, -1)), at(x, y, -1) + at(x - 1, y, -1), -at(x, y, 1), -at(x, y, 1)};
}

} // namespace fathometer::ocean
