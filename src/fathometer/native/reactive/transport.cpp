#include "transport.hpp"

#include <algorithm>

#include "core/arithmetic.hpp"
#include "core/denormals.hpp"

namespace fathometer::reactive {

namespace {

constexpr int most_components = 16, most_entries = 13;

// Numbers of components known to the compiler, whose loops are vectors then; others: 0.
template <class Work> void with_components(int components, const Work &work) {
    switch (components) {
    case 1:
        return work.template operator()<1>();
    case 2:
        return work.template operator()<2>();
    case 3:
        return work.template operator()<3>();
    case 4:
        return work.template operator()<4>();
    case 5:
        return work.template operator()<5>();
    case 6:
        return work.template operator()<6>();
    case 8:
        return work.template operator()<8>();
    default:
        return work.template operator()<0>();
    }
}

// A place of the ghosted block, or beyond it.
struct Cell {
    int64_t place[3], number;
};

// A face between two cells, towards larger coordinates.
struct Face {
    double q, g;
    const double *left, *right, *upstream; // totals; null: no value
    bool inner;                            // between two cells of the domain
    double stretch;                        // factor of U - UU: 2 where UU is a value outside
    bool from_left;                        // where the flow comes from
};

class Faces {
  public:
    explicit Faces(const Block &block) : block(block) {
        stride[2] = 1;
        stride[1] = block.ghosted[2];
        stride[0] = block.ghosted[1] * block.ghosted[2];
    }

    Cell cell(int64_t x, int64_t y, int64_t z) const {
        const int64_t place[3] = {x + block.low[0], y + block.low[1], z + block.low[2]};
        return {{place[0], place[1], place[2]}, place[0] * stride[0] + place[1] * stride[1] + place[2]};
    }

    // The cell at a distance along an axis.
    Kind kind(const Cell &cell, int axis, int64_t distance) const {
        const int64_t place = cell.place[axis] + distance;
        if (place < 0 || place >= block.ghosted[axis])
            return open;
        return Kind(std::min<uint8_t>(block.kind[number(cell, axis, distance)], open));
    }
    int64_t number(const Cell &cell, int axis, int64_t distance) const { return cell.number + distance * stride[axis]; }

    // The face between `cell` and its neighbour at side 0 or 1 of an axis, the cell's place being x, y, z of the owned.
    Face face(const Cell &cell, int axis, int side, const int64_t (&at)[3]) const {
        const int64_t length[3] = {block.owned[0] + (axis == 0), block.owned[1] + (axis == 1),
                                   block.owned[2] + (axis == 2)};
        const int64_t place[3] = {at[0] + (axis == 0 && side), at[1] + (axis == 1 && side),
                                  at[2] + (axis == 2 && side)};
        const int64_t number = (place[0] * length[1] + place[1]) * length[2] + place[2];
        Face face{};
        face.q = block.flux[axis][number];
        face.g = block.conductance[axis][number];
        face.from_left = face.q >= 0;
        const Kind left = kind(cell, axis, side - 1), right = kind(cell, axis, side);
        face.left = left == open ? nullptr : totals(cell, axis, side - 1);
        face.right = right == open ? nullptr : totals(cell, axis, side);
        face.inner = left == inside && right == inside;
        if (block.scheme == Scheme::limited && face.inner) {
            const int64_t distance = face.from_left ? side - 2 : side + 1;
            const Kind upstream = kind(cell, axis, distance);
            face.upstream = upstream == open ? nullptr : totals(cell, axis, distance);
            face.stretch = upstream == fixed ? 2 : 1;
        }
        return face;
    }

  private:
    const double *totals(const Cell &cell, int axis, int64_t distance) const {
        return block.totals + number(cell, axis, distance) * block.components;
    }

    const Block &block;
    int64_t stride[3];
};

// sum += sign F. The same bits from both sides of a face, and with the opposite sign in the mirror.
template <int N> void add_flux(const Face &face, const Block &block, double sign, double *sum) {
    const int n = N ? N : block.components;
    const Scheme scheme = block.scheme;
    if (!face.left || !face.right) {
        const double *own = face.left ? face.left : face.right;
        for (int j = 0; own && j < n; ++j)
            sum[j] += sign * (face.q * own[j]);
        return;
    }
    const double *left = face.left, *right = face.right;
    const double *up = face.from_left ? left : right, *down = face.from_left ? right : left;
    if (scheme == Scheme::central && face.inner)
        for (int j = 0; j < n; ++j)
            sum[j] += sign * madd(face.q, 0.5 * (left[j] + right[j]), -face.g * (right[j] - left[j]));
    else if (scheme == Scheme::limited && face.upstream) {
        double limited[N ? N : most_components], balanced = 0;
        for (int j = 0; j < n; ++j) {
            const double a = face.stretch * (up[j] - face.upstream[j]), b = down[j] - up[j];
            limited[j] = a * b > 0 ? a * (b / (a + b)) : 0.0;
            balanced = madd(block.balance[j], limited[j], balanced);
        }
        if (block.balanced >= 0)
            limited[block.balanced] = balanced;
        for (int j = 0; j < n; ++j)
            sum[j] += sign * madd(face.q, up[j] + limited[j], -face.g * (right[j] - left[j]));
    } else
        for (int j = 0; j < n; ++j)
            sum[j] += sign * madd(face.q, up[j], -face.g * (right[j] - left[j]));
}

// The derivatives of a face's flux by the totals of a cell: dF_j / dPsi_j (n), and those of the balanced component's by
// the totals of the others (n).
struct Slopes {
    double *own, *others;
};

// Adds sign times those of the cells at both sides and upstream.
template <int N>
void add_slopes(const Face &face, const Block &block, double sign, const Slopes &left_slopes,
                const Slopes &right_slopes, const Slopes &far_slopes) {
    const int n = N ? N : block.components;
    const Scheme scheme = block.scheme;
    double *const left = left_slopes.own, *const right = right_slopes.own, *const far = far_slopes.own;
    if (!face.left || !face.right) {
        double *own = face.left ? left : right;
        for (int j = 0; j < n; ++j)
            own[j] += sign * face.q;
        return;
    }
    double *up = face.from_left ? left : right, *down = face.from_left ? right : left;
    for (int j = 0; j < n; ++j) {
        left[j] += sign * face.g;
        right[j] -= sign * face.g;
    }
    if (scheme == Scheme::central && face.inner)
        for (int j = 0; j < n; ++j) {
            left[j] += sign * (0.5 * face.q);
            right[j] += sign * (0.5 * face.q);
        }
    else if (scheme == Scheme::limited && face.upstream) {
        const double *value = face.from_left ? face.left : face.right, *next = face.from_left ? face.right : face.left;
        for (int j = 0; j < n; ++j) {
            const double a = face.stretch * (value[j] - face.upstream[j]), b = next[j] - value[j];
            const bool limited = a * b > 0;
            const double part = limited ? b / (a + b) : 0.0, rest = limited ? a / (a + b) : 0.0;
            const double by_a = face.stretch * (part * part), by_b = rest * rest;
            if (j == block.balanced) {
                up[j] += sign * face.q;
                continue;
            }
            up[j] += sign * face.q * (1 + by_a - by_b);
            down[j] += sign * face.q * by_b;
            far[j] -= sign * face.q * by_a;
            const double passed = block.balanced >= 0 ? sign * face.q * block.balance[j] : 0.0;
            (face.from_left ? left_slopes : right_slopes).others[j] += passed * (by_a - by_b);
            (face.from_left ? right_slopes : left_slopes).others[j] += passed * by_b;
            far_slopes.others[j] -= passed * by_a;
        }
    } else
        for (int j = 0; j < n; ++j)
            up[j] += sign * face.q;
}

template <int N> void residual_of(const Block &block, const double *old, const double *reaction, double *result) {
    const int n = N ? N : block.components;
    const Faces faces(block);
    const auto [nx, ny, nz] = block.owned;
#pragma omp parallel if (nx * ny * nz >= 256)
    {
        FlushDenormals flush;
#pragma omp for schedule(static) collapse(2)
        for (int64_t x = 0; x < nx; ++x)
            for (int64_t y = 0; y < ny; ++y)
                for (int64_t z = 0; z < nz; ++z) {
                    const int64_t at[3] = {x, y, z}, number = (x * ny + y) * nz + z;
                    const Cell cell = faces.cell(x, y, z);
                    double sum[N ? N : most_components] = {};
                    for (int axis = 0; axis < 3; ++axis) {
                        double along[N ? N : most_components] = {}; // symmetric: mirrored along the axis, the same bits
                        for (int side = 0; side < 2; ++side)
                            add_flux<N>(faces.face(cell, axis, side, at), block, side ? 1.0 : -1.0, along);
                        for (int j = 0; j < n; ++j)
                            sum[j] += along[j];
                    }
                    const double *totals = block.totals + cell.number * n;
                    for (int j = 0; j < n; ++j) {
                        const int64_t k = number * n + j;
                        const double change = totals[j] - old[k] - reaction[k];
                        result[k] = madd(block.factor[number], sum[j], change) * block.inverse_scale[j];
                    }
                }
    }
}

template <int N>
void jacobian_of(const Block &block, const double *derivative, const double *reaction_derivative, int64_t begin,
                 int64_t end, int32_t *columns, double *values) {
    const int n = N ? N : block.components, count = entries(block.scheme);
    const Faces faces(block);
    const auto [nx, ny, nz] = block.owned;
#pragma omp parallel if ((end - begin) * ny * nz >= 64)
    {
        FlushDenormals flush;
#pragma omp for schedule(static) collapse(2)
        for (int64_t x = begin; x < end; ++x)
            for (int64_t y = 0; y < ny; ++y)
                for (int64_t z = 0; z < nz; ++z) {
                    const int64_t at[3] = {x, y, z}, number = (x * ny + y) * nz + z, row = number - begin * ny * nz;
                    const Cell cell = faces.cell(x, y, z);
                    double slope[most_entries * (N ? N : most_components)] = {};
                    double others[most_entries * (N ? N : most_components)] = {};
                    const auto of_entry = [&](int entry) { return Slopes{slope + entry * n, others + entry * n}; };
                    int32_t *column = columns + row * count;
                    column[0] = int32_t(cell.number);
                    for (int axis = 0; axis < 3; ++axis) {
                        for (int side = 0; side < 2; ++side) {
                            const int entry = 1 + 2 * axis + side, opposite = 1 + 2 * axis + (1 - side);
                            const Face face = faces.face(cell, axis, side, at);
                            // Upstream of the face: behind the neighbour, or at the cell's other side.
                            const int far = face.from_left == (side == 0) ? entry + 6 : opposite;
                            const Slopes own = of_entry(0), other = of_entry(entry);
                            add_slopes<N>(face, block, side ? 1.0 : -1.0, side ? own : other, side ? other : own,
                                          of_entry(far));
                        }
                        for (int entry = 1 + 2 * axis; entry < count; entry += 6)
                            for (int side = 0; side < 2; ++side) {
                                const int64_t distance = (entry > 6 ? 2 : 1) * (side ? 1 : -1);
                                const bool there = faces.kind(cell, axis, distance) == inside;
                                column[entry + side] =
                                    there ? int32_t(faces.number(cell, axis, distance)) : int32_t(-1);
                            }
                    }
                    double *block_row = values + row * n * count * n;
                    const double f = block.factor[number];
                    for (int j = 0; j < n; ++j)
                        for (int entry = 0; entry < count; ++entry) {
                            double *to = block_row + (j * count + entry) * n;
                            if (column[entry] < 0) {
                                std::fill_n(to, n, 0.0);
                                continue;
                            }
                            const double *by = derivative + (int64_t(column[entry]) * n + j) * n;
                            const double weight = f * slope[entry * n + j];
                            if (entry == 0) {
                                const double *less = reaction_derivative + (number * n + j) * n;
                                for (int k = 0; k < n; ++k)
                                    to[k] = block.inverse_scale[j] * madd(1 + weight, by[k], -less[k]);
                            } else
                                for (int k = 0; k < n; ++k)
                                    to[k] = block.inverse_scale[j] * (weight * by[k]);
                            for (int l = 0; j == block.balanced && l < n; ++l) {
                                const double more = block.inverse_scale[j] * f * others[entry * n + l];
                                const double *of = derivative + (int64_t(column[entry]) * n + l) * n;
                                for (int k = 0; k < n; ++k)
                                    to[k] = madd(more, of[k], to[k]);
                            }
                        }
                }
    }
}

} // namespace

void residual(const Block &block, const double *old, const double *reaction, double *result) {
    with_components(block.components, [&]<int N>() { residual_of<N>(block, old, reaction, result); });
}

void jacobian(const Block &block, const double *derivative, const double *reaction_derivative, int64_t begin,
              int64_t end, int32_t *columns, double *values) {
    with_components(block.components, [&]<int N>() {
        jacobian_of<N>(block, derivative, reaction_derivative, begin, end, columns, values);
    });
}

} // namespace fathometer::reactive
