#include "chemistry.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

#include "core/denormals.hpp"
#include "exponential.hpp"

namespace fathometer::reactive {

// As many cells as a vector has lanes. Derivatives of logarithms are taken by s, those of s by u.
struct Water {
    Doubles u[most_primary], c[most_species];
    Doubles base[most_reactions];                     // constant + nu u
    Doubles s, ds[most_primary];                      // ds/du
    Doubles shape[most_species], slope[most_species]; // s / (1 + size s) of each size, and its derivative
    Doubles logarithm[most_reactions];                // of c of a secondary species, of Omega
    Doubles derivative[most_reactions];               // of that
};

struct Dissolution {
    Doubles before[most_minerals], after[most_minerals], rate[most_minerals];
    Doubles derivative[most_minerals][most_primary];
};

namespace {

constexpr int width = lanes<double>;
constexpr int most_steps = 100; // of the solution for s; three or four are usual

Doubles select(Mask mask, Doubles yes, Doubles no) { return mask ? yes : no; }

bool all(Mask mask) {
    int64_t every = -1;
    for (int l = 0; l < width; ++l)
        every &= mask[l];
    return every != 0;
}

// Rows of `length` values from `cells` of cells; lanes beyond the last cell repeat it.
void gather(const double *from, int64_t cells, int length, Doubles *to) {
    for (int l = 0; l < width; ++l)
        for (int j = 0; j < length; ++j)
            to[j][l] = from[std::min<int64_t>(l, cells - 1) * length + j];
}

void scatter(const Doubles *from, int64_t cells, int length, double *to) {
    for (int l = 0; l < cells; ++l)
        for (int j = 0; j < length; ++j)
            to[l * length + j] = from[j][l];
}

// Calls work(first cell, cells) for vectors of cells, shared among the threads.
template <class Work> void for_vectors(int64_t cells, const Work &work) {
    const int64_t vectors = (cells + width - 1) / width;
#pragma omp parallel if (vectors >= 64)
    {
        FlushDenormals flush;
#pragma omp for schedule(static)
        for (int64_t v = 0; v < vectors; ++v)
            work(v * width, std::min<int64_t>(width, cells - v * width));
    }
}

} // namespace

Chemistry::Chemistry(System given) : system(std::move(given)) {
    const int n = system.primary, m = system.secondary, k = system.minerals;
    size_of.assign(system.species(), 0);
    gamma_size.assign(system.species(), 0.0);
    gamma_b.assign(system.species(), 0.0);
    half_z2.resize(system.species());
    for (int i = 0; i < system.species(); ++i) {
        const double z2 = system.charge[i] * system.charge[i], ln10 = std::numbers::ln10;
        half_z2[i] = 0.5 * z2;
        if (system.activity == Activity::ideal)
            continue;
        const bool davies = system.activity == Activity::davies;
        gamma_size[i] = ln10 * system.a * z2;
        gamma_b[i] = davies && z2 != 0 ? 0.3 * gamma_size[i] : ln10 * system.ion_b[i];
        if (z2 != 0) {
            const double q = davies ? 1.0 : system.b * system.ion_size[i];
            const auto found = std::find(size.begin(), size.end(), q);
            size_of[i] = int(found - size.begin());
            if (found == size.end())
                size.push_back(q);
        }
    }
    sizes = int(size.size());

    nu = system.stoichiometry;
    nu.insert(nu.end(), system.mineral.begin(), system.mineral.end());
    constant = system.ln_k;
    for (double ln_k : system.mineral_ln_k)
        constant.push_back(-ln_k);
    debye.assign(std::size_t(m + k) * sizes, 0.0);
    linear.assign(m + k, 0.0);
    for (int i = 0; i < m + k; ++i) {
        const auto add = [&](int species, double factor) {
            if (gamma_size[species] != 0)
                debye[i * sizes + size_of[species]] += factor * gamma_size[species];
            linear[i] += factor * gamma_b[species];
        };
        for (int j = 0; j < n; ++j)
            add(j, nu[i * n + j]);
        if (i < m)
            add(n + i, -1.0);
    }
}

void Chemistry::set(Water &water, const double *ln_c, int64_t cells) const {
    const int n = system.primary;
    gather(ln_c, cells, n, water.u);
    for (int j = 0; j < n; ++j)
        water.c[j] = exponential(water.u[j]);
    for (int i = 0; i < system.secondary + system.minerals; ++i) {
        Doubles sum = all_lanes(constant[i]);
        for (int j = 0; j < n; ++j)
            sum = madd(all_lanes(nu[i * n + j]), water.u[j], sum);
        water.base[i] = sum;
    }
}

void Chemistry::sizes_at(Water &water) const {
    for (int t = 0; t < sizes; ++t) {
        const Doubles inverse = 1.0 / madd(all_lanes(size[t]), water.s, all_lanes(1.0));
        water.shape[t] = water.s * inverse;
        water.slope[t] = inverse * inverse;
    }
}

// s that solves F(s) = 0. F <= 0 where s² is the primary species' share of I, and nowhere below is a solution: from
// there on by Newton's steps, or, where one leaves the bounds found so far, by halving them. While F < 0 a step leads
// to 1.5 sqrt(s² - F) at most, s² - F being I of all species at s: Newton's may lead far beyond the least solution, to
// strengths where activity coefficients, and with them I, grow without bound.
void Chemistry::speciate(Water &water) const {
    const int n = system.primary, m = system.secondary;
    const auto reactions = [&](int begin, int end) {
        sizes_at(water);
        const Doubles s2 = water.s * water.s, twice = water.s + water.s;
        for (int i = begin; i < end; ++i) {
            Doubles value = madd(all_lanes(linear[i]), s2, water.base[i]), slope = linear[i] * twice;
            for (int t = 0; t < sizes; ++t) {
                value = madd(all_lanes(-debye[i * sizes + t]), water.shape[t], value);
                slope = madd(all_lanes(-debye[i * sizes + t]), water.slope[t], slope);
            }
            water.logarithm[i] = value;
            water.derivative[i] = slope;
            if (i < m)
                water.c[n + i] = exponential(value);
        }
    };

    Doubles share = {};
    for (int j = 0; j < n; ++j)
        share = madd(all_lanes(half_z2[j]), water.c[j], share);
    water.s = square_root(share);
    if (system.activity != Activity::ideal) {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        Doubles low = water.s, high = all_lanes(infinite);
        Mask done{};
        for (int step = 0; step < most_steps && !all(done); ++step) {
            reactions(0, m);
            Doubles f = madd(water.s, water.s, -share), df = water.s + water.s;
            for (int i = 0; i < m; ++i) {
                const Doubles part = half_z2[n + i] * water.c[n + i];
                f -= part;
                df = madd(-part, water.derivative[i], df);
            }
            low = select(f <= 0.0, water.s, low);
            high = select(f > 0.0, water.s, high);
            const Doubles most = select(f > 0.0, high, 1.5 * square_root(madd(water.s, water.s, -f)));
            Doubles newton = water.s - f / df;
            newton = select(newton > most, most, newton);
            const Mask within = (newton >= low) & (newton <= high);
            const Doubles halved = select(high < infinite, 0.5 * (low + high), most);
            Doubles next = select(within, newton, halved);
            next = select(f == 0.0, water.s, next);
            next = select(f == f, next, f); // NaN stays
            // The error after a step of Newton's is about the square of the step.
            const Doubles change = select(next > water.s, next - water.s, water.s - next);
            const Mask small = change <= select(within, 1e-8 * next, 1e-16 * next);
            water.s = select(done, water.s, next);
            done |= small | (next != next);
        }
        water.s = select(done, water.s, all_lanes(std::numeric_limits<double>::quiet_NaN()));
    }
    reactions(0, m + system.minerals);
}

// By the implicit function: ds/du = -(dF/du) / (dF/ds). Where there are no ions there is nothing to change.
void Chemistry::differentiate(Water &water) const {
    const int n = system.primary, m = system.secondary;
    if (system.activity == Activity::ideal) {
        std::fill_n(water.ds, n, Doubles{});
        return;
    }
    Doubles part[most_secondary], df = water.s + water.s;
    for (int i = 0; i < m; ++i) {
        part[i] = half_z2[n + i] * water.c[n + i];
        df = madd(-part[i], water.derivative[i], df);
    }
    const Doubles inverse = select(water.s == 0.0, Doubles{}, 1.0 / df);
    for (int k = 0; k < n; ++k) {
        Doubles sum = half_z2[k] * water.c[k];
        for (int i = 0; i < m; ++i)
            sum = madd(all_lanes(nu[i * n + k]), part[i], sum);
        water.ds[k] = sum * inverse;
    }
}

void Chemistry::totals(int64_t cells, const double *ln_c, double *totals, double *derivative) const {
    const int n = system.primary, m = system.secondary;
    for_vectors(cells, [&](int64_t first, int64_t here) {
        Water water;
        Doubles total[most_primary], result[most_primary * most_primary], amount[most_secondary];
        set(water, ln_c + first * n, here);
        speciate(water);
        for (int j = 0; j < n; ++j) {
            total[j] = water.c[j];
            for (int i = 0; i < m; ++i)
                total[j] = madd(all_lanes(nu[i * n + j]), water.c[n + i], total[j]);
        }
        scatter(total, here, n, totals + first * n);
        if (!derivative)
            return;
        differentiate(water);
        for (int j = 0; j < n; ++j) {
            Doubles change = {}; // d Psi_j / ds
            for (int i = 0; i < m; ++i) {
                amount[i] = nu[i * n + j] * water.c[n + i];
                change = madd(amount[i], water.derivative[i], change);
            }
            for (int k = 0; k < n; ++k) {
                Doubles sum = change * water.ds[k];
                if (j == k)
                    sum += water.c[j];
                for (int i = 0; i < m; ++i)
                    sum = madd(amount[i], all_lanes(nu[i * n + k]), sum);
                result[j * n + k] = sum;
            }
        }
        scatter(result, here, n * n, derivative + first * n * n);
    });
}

// Omega, amounts and rates of the minerals, and the rates' derivatives by u.
void Chemistry::dissolve(const Water &water, double dt, Dissolution &minerals, bool derivative) const {
    const int n = system.primary, m = system.secondary;
    for (int i = 0; i < system.minerals; ++i) {
        const Doubles omega = exponential(water.logarithm[m + i]), under = 1.0 - omega, before = minerals.before[i];
        const double dissolving = system.rate_constant[i] * system.specific_area[i];
        const Mask grows = omega >= 1.0;
        const Doubles inverse = 1.0 / madd(all_lanes(dt * dissolving), under, all_lanes(1.0));
        const Doubles shrunk = before * inverse;
        const Doubles growing = system.rate_constant[i] *
                                madd(all_lanes(system.specific_area[i]), before, all_lanes(system.nucleation_area[i]));
        minerals.rate[i] = select(grows, growing, dissolving * shrunk) * under;
        minerals.after[i] = select(grows, madd(all_lanes(-dt), minerals.rate[i], before), shrunk);
        if (!derivative)
            continue;
        const Doubles slope = -omega * select(grows, growing, dissolving * shrunk * inverse); // dR / d ln(Omega)
        for (int j = 0; j < n; ++j)
            minerals.derivative[i][j] =
                slope * madd(water.derivative[m + i], water.ds[j], all_lanes(nu[(m + i) * n + j]));
    }
}

void Chemistry::rates(int64_t cells, const double *ln_c, const double *old, double dt, double *amount, double *rate,
                      double *derivative) const {
    const int n = system.primary, k = system.minerals;
    if (k == 0)
        return;
    for_vectors(cells, [&](int64_t first, int64_t here) {
        Water water;
        Dissolution minerals;
        Doubles slopes[most_minerals * most_primary];
        set(water, ln_c + first * n, here);
        speciate(water);
        if (derivative)
            differentiate(water);
        gather(old + first * k, here, k, minerals.before);
        dissolve(water, dt, minerals, derivative != nullptr);
        scatter(minerals.after, here, k, amount + first * k);
        scatter(minerals.rate, here, k, rate + first * k);
        if (!derivative)
            return;
        for (int i = 0; i < k; ++i)
            std::copy_n(minerals.derivative[i], n, slopes + i * n);
        scatter(slopes, here, k * n, derivative + first * k * n);
    });
}

void Chemistry::reaction(int64_t cells, const double *ln_c, const double *old, double dt, const double *share,
                         double *amount, double *reaction, double *derivative) const {
    const int n = system.primary, k = system.minerals;
    const double *mineral = nu.data() + system.secondary * n;
    for_vectors(cells, [&](int64_t first, int64_t here) {
        Water water;
        Dissolution minerals;
        Doubles factor, gain[most_primary], slopes[most_primary * most_primary];
        set(water, ln_c + first * n, here);
        speciate(water);
        if (derivative)
            differentiate(water);
        gather(old + first * k, here, k, minerals.before);
        dissolve(water, dt, minerals, derivative != nullptr);
        gather(share + first, here, 1, &factor);
        for (int j = 0; j < n; ++j) {
            Doubles sum = {};
            for (int i = 0; i < k; ++i)
                sum = madd(all_lanes(mineral[i * n + j]), minerals.rate[i], sum);
            gain[j] = factor * sum;
            for (int l = 0; derivative && l < n; ++l) {
                sum = Doubles{};
                for (int i = 0; i < k; ++i)
                    sum = madd(all_lanes(mineral[i * n + j]), minerals.derivative[i][l], sum);
                slopes[j * n + l] = factor * sum;
            }
        }
        scatter(minerals.after, here, k, amount + first * k);
        scatter(gain, here, n, reaction + first * n);
        if (derivative)
            scatter(slopes, here, n * n, derivative + first * n * n);
    });
}

void Chemistry::species(int64_t cells, const double *ln_c, double *ln_activity, double *ln_molality,
                        double *strength) const {
    const int n = system.primary, m = system.secondary, all = n + m;
    for_vectors(cells, [&](int64_t first, int64_t here) {
        Water water;
        Doubles activity[most_species], molality[most_species];
        set(water, ln_c + first * n, here);
        speciate(water);
        Doubles sum = {};
        for (int i = 0; i < all; ++i) {
            molality[i] = i < n ? water.u[i] : water.logarithm[i - n];
            activity[i] = madd(all_lanes(gamma_b[i]), water.s * water.s, molality[i]);
            if (gamma_size[i] != 0)
                activity[i] = madd(all_lanes(-gamma_size[i]), water.shape[size_of[i]], activity[i]);
            sum = madd(all_lanes(half_z2[i]), water.c[i], sum);
        }
        scatter(activity, here, all, ln_activity + first * all);
        if (ln_molality)
            scatter(molality, here, all, ln_molality + first * all);
        scatter(&sum, here, 1, strength + first);
    });
}

} // namespace fathometer::reactive
