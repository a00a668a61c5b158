// The loop of Kirchhoff migration as one would write it first: for each trace, column and sample all of the operator.
// Kept to be measured against.
#include <cmath>

#include "operator.hpp"

namespace fathometer::kirchhoff {

namespace {

float leg(float quarter, float X, float eta) {
    const float g = 1.0f / (1.0f + 2.0f * eta), b = 0.25f / (1.0f + eta), H = quarter + g * X;
    const float square = (1.0f - b) * H + std::sqrt(b * b * H * H + g * (1.0f - 4.0f * b) * quarter * X);
    return std::sqrt(std::max(square, 1e-12f));
}

float tapered(float value, float limit, float taper) {
    if (value >= limit)
        return 0.0f;
    const float begin = limit * (1.0f - taper);
    if (value <= begin)
        return 1.0f;
    const float s = (limit - value) / (limit - begin);
    return s * s * (3.0f - 2.0f * s);
}

float weight(Weights kind, float t0, float ts, float tr, float slowness) {
    const float full = t0 * (ts + tr) * (1.0f / (ts * ts) + 1.0f / (tr * tr));
    switch (kind) {
    case Weights::none:
        return 1.0f;
    case Weights::point_3d:
        return full * slowness;
    case Weights::point_2d:
        return full * std::sqrt(ts * tr / (ts + tr));
    case Weights::line_2d:
        return full * std::sqrt(ts * tr) * slowness / (ts + tr);
    }
    return 0.0f;
}

} // namespace

int64_t migrate_plainly(const Tile &tile, const Traces &traces, const Operator &op) {
    const int64_t columns = tile.nx * tile.ny, samples = tile.segments * segment, length = traces.bank.length();
    const double unit = double(traces.bank.unit) * traces.interval;
    int64_t done = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : done)
    for (int64_t c = 0; c < columns; ++c)
        for (int64_t t = 0; t < traces.count; ++t) {
            if (traces.volume[t] < 0)
                continue;
            const double *g = traces.geometry + 5 * t;
            const double x = tile.column_x(c), y = tile.column_y(c);
            const float sx = float(x - g[0]), sy = float(y - g[1]), rx = float(x - g[2]), ry = float(y - g[3]);
            const float distance = 0.5f * std::sqrt((sx + rx) * (sx + rx) + (sy + ry) * (sy + ry));
            if (distance >= float(op.aperture))
                continue;
            const float near = tapered(distance, float(op.aperture), float(op.taper));
            float *image = tile.image + (traces.volume[t] * columns + c) * samples;
            const float *slowness2 = tile.slowness2 + c * samples;
            for (int64_t k = 0; k < samples; ++k) {
                const float t0 = float(tile.start + double(k) * tile.dt), u = slowness2[k], q = 0.25f * t0 * t0;
                const float eta = tile.eta ? tile.eta[c * samples + k] : 0.0f;
                const float ts = leg(q, (sx * sx + sy * sy) * u, eta), tr = leg(q, (rx * rx + ry * ry) * u, eta);
                const float qx = sx / ts + rx / tr, qy = sy / ts + ry / tr;
                const float tangent =
                    std::sqrt(u * (qx * qx + qy * qy)) / (0.5f * t0 * (1.0f / ts + 1.0f / tr) + 1e-20f);
                const float taper = near * tapered(tangent, float(op.tan_dip), float(op.taper));
                if (taper == 0.0f)
                    continue;
                ++done;
                const float slope =
                    std::max(std::fabs(u * qx) * float(op.alias_x), std::fabs(u * qy) * float(op.alias_y));
                const float *row =
                    traces.rows +
                    (t * traces.bank.rows + row_of(slope / float(unit), int32_t(traces.bank.rows))) * length;
                const float place =
                    float((double(ts + tr) + g[4] - traces.first) / traces.interval + double(traces.bank.margin));
                if (place < 0.0f || place >= float(length - 1))
                    continue;
                const int64_t i = int64_t(place);
                const float part = place - float(i), value = (1.0f - part) * row[i] + part * row[i + 1];
                image[k] += taper * float(op.scale) * weight(op.weights, t0, ts, tr, std::sqrt(u)) * value;
                if (tile.fold && k % segment == 0)
                    tile.fold[c * (tile.segments + 1) + k / segment] += taper;
            }
        }
    return done;
}

} // namespace fathometer::kirchhoff
