#include "eikonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fathometer {

namespace {

constexpr int64_t directions = 8;
constexpr double settled = 1e-4; // a time that falls by less has come to rest

// The time t with sum of ((t - neighbour) / h)^2 = slowness^2 over the neighbours that are earlier than t.
double arrival(std::array<std::pair<double, double>, 3> neighbours, double slowness) { // of each its time and 1 / h^2
    std::sort(neighbours.begin(), neighbours.end());
    double best = std::numeric_limits<double>::infinity(), a = 0, b = 0, c = -slowness * slowness;
    for (const auto &[time, weight] : neighbours) {
        if (!(time < best))
            break;
        if (weight == 0)
            continue;
        a += weight;
        b += weight * time;
        c += weight * time * time;
        best = (b + std::sqrt(std::max(b * b - a * c, 0.0))) / a;
    }
    return best;
}

} // namespace

int64_t first_arrivals(const double *speed, const std::array<int64_t, 3> &n, const std::array<double, 3> &spacing,
                       double *times) {
    const int64_t stride[3] = {(n[1] + 1) * (n[2] + 1), n[2] + 1, 1}, block[3] = {n[1] * n[2], n[2], 1};
    const double weight[3] = {1 / (spacing[0] * spacing[0]), 1 / (spacing[1] * spacing[1]),
                              1 / (spacing[2] * spacing[2])};

    int64_t sweeps = 0;
    for (int64_t quiet = 0; quiet < directions; ++sweeps) {
        // A sweep goes upwards along some axes and downwards along the others, and a node looks back along them.
        int64_t back[3], block_back[3];
        for (int axis = 0; axis < 3; ++axis) {
            const bool down = sweeps >> axis & 1;
            back[axis] = down ? stride[axis] : -stride[axis];
            block_back[axis] = down ? 0 : -block[axis];
        }
        const int64_t behind = block_back[0] + block_back[1] + block_back[2];
        bool fell = false;
        for (int64_t a = 1; a <= n[0]; ++a)
            for (int64_t b = 1; b <= n[1]; ++b)
                for (int64_t c = 1; c <= n[2]; ++c) {
                    const int64_t x = sweeps & 1 ? n[0] - a : a, y = sweeps & 2 ? n[1] - b : b,
                                  z = sweeps & 4 ? n[2] - c : c;
                    double *here = times + x * stride[0] + y * stride[1] + z;
                    const double before[3] = {here[back[0]], here[back[1]], here[back[2]]};
                    if (!(std::min({before[0], before[1], before[2]}) < *here))
                        continue;
                    const double slowness = 1 / speed[x * block[0] + y * block[1] + z + behind];
                    const double time =
                        arrival({{{before[0], weight[0]}, {before[1], weight[1]}, {before[2], weight[2]}}}, slowness);
                    fell = fell || time < *here * (1 - settled);
                    *here = std::min(*here, time);
                }
        quiet = fell ? 0 : quiet + 1;
    }
    return sweeps;
}

} // namespace fathometer
