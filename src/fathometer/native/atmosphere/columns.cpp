// Products of the primitive equations on the grid: columns of air, with the vertical differences of Simmons & Burridge
// (1981, Mon. Weather Rev. 109, 758), which keep mass and energy.
#include "atmosphere.hpp"

#include <cmath>

#include "core/arithmetic.hpp"
#include "core/denormals.hpp"

namespace fathometer::atmosphere {

void columns_of_ring(const Levels &levels, const Ring &ring, int64_t places, const double *grid, const double *forcing,
                     double *rates, double *weather, double *winds) {
    FlushDenormals guard;
    const int64_t count = levels.count();
    const double *A = levels.a.data(), *B = levels.b.data();
    const double over = 1 / ring.cosine, coriolis = ring.rotation * ring.sine, R = levels.gas, kappa = levels.kappa;
    std::vector<double> scratch(static_cast<std::size_t>(12 * (count + 1)));
    const auto part = [&](int64_t number) { return scratch.data() + number * (count + 1); };
    double *half = part(0), *thick = part(1), *ratio = part(2), *alpha = part(3), *wind = part(4), *flux = part(5),
           *through = part(6), *above = part(7), *slope = part(8), *u = part(9), *v = part(10), *under = part(11);
    for (int64_t place = 0; place < places; ++place) {
        const double *z = grid + place * grid_columns(count), *d = z + count, *T = d + count, *U = T + count,
                     *V = U + count, *q = V + count;
        double *n_u = rates + place * rate_columns(count), *n_v = n_u + count, *ut = n_v + count, *vt = ut + count,
               *heat = vt + count, *energy = heat + count;
        const double surface = std::exp(q[0]), qx = q[1] * over, qy = q[2] * over;
        for (int64_t k = 0; k <= count; ++k)
            half[k] = madd(B[k], surface, A[k]);
        for (int64_t k = 0; k < count; ++k) {
            thick[k] = half[k + 1] - half[k];
            ratio[k] = half[k + 1] / half[k];
            u[k] = U[k] * over, v[k] = V[k] * over;
        }
        for (int64_t k = 0; k < count; ++k)
            ratio[k] = std::log(ratio[k]);
        if (half[0] == 0) { // the top of the atmosphere at no pressure
            ratio[0] = 0, alpha[0] = std::log(2.0);
        } else
            alpha[0] = 1 - half[0] / thick[0] * ratio[0];
        for (int64_t k = 1; k < count; ++k)
            alpha[k] = 1 - half[k] / thick[k] * ratio[k];
        for (int64_t k = 0; k < count; ++k) {
            wind[k] = madd(u[k], qx, v[k] * qy) * surface; // V · grad p_s
            flux[k] = madd(d[k], thick[k], wind[k] * (B[k + 1] - B[k]));
            slope[k] = (ratio[k] * B[k] + alpha[k] * (B[k + 1] - B[k])) / thick[k] * surface;
        }
        double sum = 0;
        for (int64_t k = 0; k < count; ++k)
            above[k] = sum, sum += flux[k];
        through[0] = through[count] = 0;
        for (int64_t k = 1; k < count; ++k)
            through[k] = B[k] * sum - above[k];
        // Geopotential over that of the surface, of what lies under a level.
        double height = 0;
        for (int64_t k = count - 1; k >= 0; --k)
            under[k] = height, height += R * T[k] * ratio[k];
        const auto carried = [=](const double *X, int64_t k) {
            const double up = k ? through[k] * (X[k] - X[k - 1]) : 0.0;
            const double down = k + 1 < count ? through[k + 1] * (X[k + 1] - X[k]) : 0.0;
            return (up + down) / (2 * thick[k]);
        };
        const double *push = forcing ? forcing + place * 3 * count : nullptr;
        for (int64_t k = 0; k < count; ++k) {
            const double pull = R * T[k] * slope[k];
            double du = (z[k] + coriolis) * v[k] - carried(u, k) - pull * qx;
            double dv = -(z[k] + coriolis) * u[k] - carried(v, k) - pull * qy;
            double dT =
                T[k] * d[k] - carried(T, k) +
                kappa * T[k] * (slope[k] * wind[k] / surface - (ratio[k] * above[k] + alpha[k] * flux[k]) / thick[k]);
            if (push)
                du += push[k], dv += push[count + k], dT += push[2 * count + k];
            n_u[k] = du * over, n_v[k] = dv * over;
            ut[k] = u[k] * T[k] * over, vt[k] = v[k] * T[k] * over;
            heat[k] = dT;
            energy[k] = 0.5 * madd(u[k], u[k], v[k] * v[k]) + (under[k] + alpha[k] * R * T[k]);
        }
        energy[count] = -sum / surface;
        if (weather) {
            double *to = weather + place * weather_columns(count);
            for (int64_t k = 0; k < count; ++k)
                to[k] = u[k], to[count + k] = v[k], to[2 * count + k] = T[k];
            to[3 * count] = surface;
        }
        if (winds) {
            double *to = winds + place * wind_columns(count), *fall = to + 2 * count;
            for (int64_t k = 0; k < count; ++k)
                to[k] = u[k], to[count + k] = v[k];
            for (int64_t k = 1; k < count; ++k)
                fall[k - 1] = through[k] / (0.5 * (half[k + 1] - half[k - 1]));
        }
    }
}

void shallow_ring(const Ring &ring, int64_t places, const double *grid, const double *forcing, double *rates,
                  double *weather, double *winds) {
    FlushDenormals guard;
    const double over = 1 / ring.cosine, coriolis = ring.rotation * ring.sine;
    for (int64_t place = 0; place < places; ++place) {
        const double *own = grid + place * grid_columns(1);
        const double z = own[0], phi = own[2], u = own[3] * over, v = own[4] * over;
        const double *push = forcing ? forcing + place * 3 : nullptr;
        double *to = rates + place * rate_columns(1);
        to[0] = ((z + coriolis) * v + (push ? push[0] : 0.0)) * over;
        to[1] = (-(z + coriolis) * u + (push ? push[1] : 0.0)) * over;
        to[2] = u * phi * over, to[3] = v * phi * over;
        to[4] = push ? push[2] : 0.0;
        to[5] = 0.5 * madd(u, u, v * v) + phi;
        to[6] = 0;
        if (weather) {
            double *seen = weather + place * weather_columns(1);
            seen[0] = u, seen[1] = v, seen[2] = phi, seen[3] = 1;
        }
        if (winds)
            winds[2 * place] = u, winds[2 * place + 1] = v;
    }
}

} // namespace fathometer::atmosphere
