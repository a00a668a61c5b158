// What of the operator is evaluated at nodes: weights and triangles of one trace in one column.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "operator.hpp"

namespace fathometer::kirchhoff {

// A trace seen from a column.
struct Legs {
    float sx, sy, rx, ry; // from source and receiver to the column, m
    float s2, r2;         // squares of the distances, m²
    float near;           // weight of the distance from the midpoint, 0 beyond the aperture
};

// A smooth ramp: 1 for value <= (1 - taper) limit, 0 from limit on.
inline float ramp(float value, float limit, float inverse_width) {
    const float s = std::min(1.0f, std::max(0.0f, (limit - value) * inverse_width));
    return s * s * (3.0f - 2.0f * s);
}

class Nodes {
  public:
    Nodes(const Tile &tile, const Operator &op)
        : tile(tile), op(op), alias_x(0), alias_y(0), time(size(tile)), taper(size(tile)), weight(size(tile)),
          length(size(tile)) {
        for (std::size_t n = 0; n < time.size(); ++n)
            time[n] = float(0.5 * (tile.start + double(int64_t(n) * segment) * tile.dt));
    }

    // A unit of the bank in s: half-length of its second row.
    void unit(double seconds) {
        alias_x = float(op.alias_x / seconds);
        alias_y = float(op.alias_y / seconds);
    }

    Legs legs(const double *geometry, double x, double y) const {
        const double sx = x - geometry[0], sy = y - geometry[1], rx = x - geometry[2], ry = y - geometry[3];
        const double mx = 0.5 * (sx + rx), my = 0.5 * (sy + ry);
        const float distance = float(std::sqrt(mx * mx + my * my)), limit = float(op.aperture);
        const float width = limit * float(op.taper);
        const float near = distance > limit ? 0.0f : width > 0 ? ramp(distance, limit, 1.0f / width) : 1.0f;
        return {float(sx), float(sy), float(rx), float(ry), float(sx * sx + sy * sy), float(rx * rx + ry * ry), near};
    }

    // Weights and triangles at all nodes of a column. Returns the first segment with a weight, or all.
    int64_t evaluate(const Legs &legs, int64_t column) {
        const float *slowness2 = tile.node_slowness2 + column * (tile.segments + 1);
        const int64_t at = column * (tile.segments + 1);
        if (tile.eta)
            evaluate_with<true>(legs, slowness2, tile.node_g + at, tile.node_b + at);
        else
            evaluate_with<false>(legs, slowness2, nullptr, nullptr);
        const int64_t nodes = int64_t(time.size());
        int64_t first = 0;
        while (first < nodes && weight[std::size_t(first)] == 0.0f)
            ++first;
        return first == nodes ? tile.segments : std::max<int64_t>(first - 1, 0);
    }

    const float *weights() const { return weight.data(); }
    const float *lengths() const { return length.data(); } // of triangles, in units of the bank
    const float *tapers() const { return taper.data(); }

  private:
    static std::size_t size(const Tile &tile) { return std::size_t(tile.segments + 1); }

    template <bool has_eta>
    void evaluate_with(const Legs &l, const float *slowness2, const float *flat, const float *part) {
        switch (op.weights) {
        case Weights::none:
            return evaluate_with<has_eta, Weights::none>(l, slowness2, flat, part);
        case Weights::point_3d:
            return evaluate_with<has_eta, Weights::point_3d>(l, slowness2, flat, part);
        case Weights::point_2d:
            return evaluate_with<has_eta, Weights::point_2d>(l, slowness2, flat, part);
        case Weights::line_2d:
            return evaluate_with<has_eta, Weights::line_2d>(l, slowness2, flat, part);
        }
    }

    template <bool has_eta, Weights kind>
    void evaluate_with(const Legs &l, const float *slowness2, const float *flat, const float *part) {
        const int64_t nodes = int64_t(time.size());
        const float tan_dip = float(op.tan_dip), width = tan_dip * float(op.taper);
        const float inverse_width = width > 0 ? 1.0f / width : 1e30f;
        const float along_x = alias_x, along_y = alias_y, scale = float(op.scale);
        constexpr float least = 1e-12f; // s²: no time is 0
        float *const tapers = taper.data(), *const values = weight.data(), *const lengths = length.data();
        const float *const times = time.data();
#pragma omp simd
        for (int64_t n = 0; n < nodes; ++n) {
            const float u = slowness2[n], h = times[n], q = h * h;
            float S = l.s2 * u, R = l.r2 * u, slope_s = 1.0f, slope_r = 1.0f;
            float a = q + S, b = q + R;
            if constexpr (has_eta) {
                const float g = flat[n], c = part[n], d = 1.0f - c, k = g * (1.0f - 4.0f * c) * q;
                const float hs = q + g * S + least, hr = q + g * R + least, bs = c * hs, br = c * hr;
                const float root_s = std::sqrt(bs * bs + k * S), root_r = std::sqrt(br * br + k * R);
                const float inverse = 1.0f / (root_s * root_r); // one division for both: it is most of the time
                a = d * hs + root_s;
                b = d * hr + root_r;
                slope_s = g * d + (bs * c * g + 0.5f * k) * (inverse * root_r);
                slope_r = g * d + (br * c * g + 0.5f * k) * (inverse * root_s);
            }
            a = a > least ? a : least;
            b = b > least ? b : least;
            const float ts = std::sqrt(a), tr = std::sqrt(b), is = 1.0f / ts, ir = 1.0f / tr;
            const float ps = u * slope_s * is, pr = u * slope_r * ir;
            const float px = std::fabs(ps * l.sx + pr * l.rx), py = std::fabs(ps * l.sy + pr * l.ry);
            const float lx = px * along_x, ly = py * along_y;
            lengths[n] = lx > ly ? lx : ly;
            // Dip: tangent of the angle of the bisector of the two rays (constant velocity) from the vertical.
            const float qx = l.sx * is + l.rx * ir, qy = l.sy * is + l.ry * ir;
            const float tangent = std::sqrt(u * (qx * qx + qy * qy)) / (h * (is + ir) + 1e-20f);
            float s = (tan_dip - tangent) * inverse_width;
            s = s < 0.0f ? 0.0f : s > 1.0f ? 1.0f : s;
            const float near = l.near * (s * s * (3.0f - 2.0f * s));
            tapers[n] = near;
            float w = near * scale;
            if constexpr (kind != Weights::none) {
                const float sum = ts + tr;
                w *= 2.0f * h * sum * (is * is + ir * ir);
                if constexpr (kind == Weights::point_3d)
                    w *= std::sqrt(u);
                else if constexpr (kind == Weights::point_2d)
                    w *= std::sqrt(ts * tr / sum);
                else
                    w *= std::sqrt(u * ts * tr) / sum;
            }
            values[n] = w;
        }
    }

    const Tile &tile;
    const Operator &op;
    float alias_x, alias_y;
    std::vector<float> time, taper, weight, length;
};

} // namespace fathometer::kirchhoff
