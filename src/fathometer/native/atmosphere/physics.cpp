// Physics of columns of air: the forcing of Held & Suarez (1994, Bull. Am. Meteorol. Soc. 75, 1825); or grey radiation,
// with longwave optical depths of Frierson, Held & Zurita-Gotor (2006, J. Atmos. Sci. 63, 2548) and shortwave bands by
// day; dry convective adjustment. A column's cost depends on it: by night there is no shortwave, and only what is
// unstable is mixed.
#include "atmosphere.hpp"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.hpp"
#include "core/denormals.hpp"

namespace fathometer::atmosphere {

namespace {

constexpr double day = 86400, reference = 1e5; // s, Pa
// Held & Suarez: friction below this share of the surface pressure; rates, 1/s.
constexpr double boundary = 0.7, friction = 1 / day, slow = 1 / (40 * day), fast = 1 / (4 * day);
// Longwave optical depths at the equator and the poles, and the share that goes with the pressure, not its fourth
// power.
constexpr double depth_equator = 6, depth_pole = 1.5, linear = 0.1;
constexpr double stefan_boltzmann = 5.670374419e-8;
// Shortwave: bands of the same energy, whose optical depths grow by a factor; the share that is reflected; the least
// cosine of paths. Ours: a fifth is absorbed in the air with the sun overhead.
constexpr int64_t bands = 16;
constexpr double neutral = 1 - 1e-10; // of potential temperatures that are the same but for rounding
constexpr double thinnest = 2e-3, denser = 1.5, albedo = 0.31, least_cosine = 0.05;

class Column {
  public:
    explicit Column(const Physics &physics)
        : physics(physics), count(physics.levels.count()), scratch(static_cast<std::size_t>(8 * (count + 1))) {}

    void force(double sine, double sun, double interval, const double *weather, double *forcing, double *results) {
        const double *u = weather, *v = u + count, *T = v + count, surface = weather[3 * count];
        double *du = forcing, *dv = du + count, *dT = dv + count;
        for (int64_t k = 0; k <= count; ++k)
            half[k] = madd(physics.levels.b[k], surface, physics.levels.a[k]);
        for (int64_t k = 0; k < count; ++k) {
            full[k] = 0.5 * (half[k] + half[k + 1]), thick[k] = half[k + 1] - half[k];
            exner[k] = std::pow(full[k] / reference, physics.levels.kappa);
            const double drag = friction * low(k, surface);
            du[k] = -drag * u[k], dv[k] = -drag * v[k], dT[k] = 0;
        }
        std::fill(results, results + physics_results, 0.0);
        if (physics.relaxation)
            relax(sine, surface, T, dT);
        else
            radiate(sine, sun, surface, T, dT, results);
        if (physics.convection)
            results[3] = mix(interval, T, dT);
    }

  private:
    double low(int64_t k, double surface) const {
        return std::max(0.0, (full[k] / surface - boundary) / (1 - boundary));
    }

    void relax(double sine, double surface, const double *T, double *dT) const {
        const double square = sine * sine, cosine = 1 - square;
        for (int64_t k = 0; k < count; ++k) {
            const double wanted = (315 - 60 * square - 10 * std::log(full[k] / reference) * cosine) * exner[k];
            const double rate = madd(fast - slow, low(k, surface) * cosine * cosine, slow);
            dT[k] = -rate * (T[k] - std::max(200.0, wanted));
        }
    }

    void radiate(double sine, double sun, double surface, const double *T, double *dT, double *results) {
        const double square = sine * sine, deepest = madd(depth_pole - depth_equator, square, depth_equator);
        const double ground = 302 - 48 * square; // its temperature
        // Longwave: transmission of each level, then fluxes through the interfaces, down and up.
        for (int64_t k = 0; k <= count; ++k)
            depth[k] = deepest * of_pressure(half[k] / surface);
        for (int64_t k = 0; k < count; ++k) {
            const double square_T = T[k] * T[k];
            emitted[k] = stefan_boltzmann * square_T * square_T;
            passed[k] = std::exp(depth[k] - depth[k + 1]);
        }
        double down = 0;
        for (int64_t k = 0; k < count; ++k) {
            net[k] = -down;
            down = madd(passed[k], down - emitted[k], emitted[k]);
        }
        net[count] = -down;
        double up = stefan_boltzmann * (ground * ground) * (ground * ground);
        results[2] = down - up;
        for (int64_t k = count; k-- > 0;) {
            net[k + 1] += up;
            up = madd(passed[k], up - emitted[k], emitted[k]);
        }
        net[0] += up;
        results[0] = up;
        if (sun > 0 && physics.solar > 0)
            shine(sun, surface, results);
        // A flux that grows upward takes heat away: c_p Delta p / g dT/dt = net below - net above.
        const double factor = physics.gravity * physics.levels.kappa / physics.levels.gas;
        for (int64_t k = 0; k < count; ++k)
            dT[k] = factor * (net[k + 1] - net[k]) / thick[k];
    }

    static double of_pressure(double share) {
        const double square = share * share;
        return linear * share + (1 - linear) * square * square;
    }

    // Shortwave, downward only.
    void shine(double sun, double surface, double *results) {
        const double incoming = physics.solar * sun * (1 - albedo), path = 1 / std::max(sun, least_cosine);
        double left = 0;
        for (int64_t k = 0; k <= count; ++k) {
            const double share = half[k] / surface, top = half[0] / surface;
            const double column = (share * share - top * top) * path;
            double optical = thinnest * column;
            left = 0;
            for (int64_t band = 0; band < bands; ++band, optical *= denser)
                left += std::exp(-optical);
            left *= incoming / bands;
            net[k] -= left;
        }
        results[1] = incoming;
        results[2] += left;
    }

    // Layers whose potential temperature falls upward are joined until none does; the enthalpy of what is joined stays.
    // How many times two were joined.
    double mix(double interval, const double *T, double *dT) {
        int64_t blocks = 0, joined = 0;
        double *enthalpy = depth, *mass = net, *size = emitted; // by block, from the ground up
        for (int64_t k = count; k-- > 0;) {
            enthalpy[blocks] = (T[k] + interval * dT[k]) * thick[k], mass[blocks] = exner[k] * thick[k];
            size[blocks++] = 1;
            while (blocks > 1 &&
                   enthalpy[blocks - 1] * mass[blocks - 2] < neutral * enthalpy[blocks - 2] * mass[blocks - 1]) {
                enthalpy[blocks - 2] += enthalpy[blocks - 1], mass[blocks - 2] += mass[blocks - 1];
                size[blocks - 2] += size[blocks - 1];
                --blocks, ++joined;
            }
        }
        int64_t k = count;
        for (int64_t block = 0; block < blocks && joined; ++block) {
            const double potential = enthalpy[block] / mass[block];
            for (int64_t n = 0; n < int64_t(size[block]); ++n) {
                --k;
                if (size[block] > 1)
                    dT[k] = (potential * exner[k] - T[k]) / interval;
            }
        }
        return double(joined);
    }

    const Physics &physics;
    int64_t count;
    std::vector<double> scratch;
    double *half = part(0), *full = part(1), *thick = part(2), *exner = part(3), *depth = part(4), *emitted = part(5),
           *passed = part(6), *net = part(7);

    double *part(int64_t number) { return scratch.data() + number * (count + 1); }
};

} // namespace

void force_columns(const Physics &physics, int64_t places, const double *sine, const double *sun, double interval,
                   const double *weather, double *forcing, double *results) {
    FlushDenormals guard;
    Column column(physics);
    const int64_t levels = physics.levels.count();
    for (int64_t place = 0; place < places; ++place)
        column.force(sine[place], sun[place], interval, weather + place * weather_columns(levels),
                     forcing + place * 3 * levels, results + place * physics_results);
}

} // namespace fathometer::atmosphere
