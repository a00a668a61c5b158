#include "vertical.hpp"

#include "advection.hpp"

namespace fathometer::ocean {

Vertical::Vertical(const Grid &g, const Numbers &m, double step, int64_t count)
    : grid(g), numbers(m), dt(step), tracers(count), stride(padded(g.nz)), h(stride), up(stride + 1),
      value(count * stride), added(count * stride), coupling(stride + 1), inverse(stride), courant(stride),
      through(stride + 1) {}

void Vertical::advance(TracerColumns &columns) {
    const int64_t n = *std::max_element(columns.levels, columns.levels + width), whole = padded(n);
    if (n == 0)
        return;
    for (int l = 0; l < width; ++l)
        levels[l] = double(columns.levels[l]);
    ratio = load(columns.ratio);
    top = grid.thickness[0] + load(columns.surface);
    to_lanes(columns.thickness.data(), stride, whole, h.data());
    to_lanes(columns.out.data(), stride, whole, up.data());
    for (int64_t t = 0; t < tracers; ++t) {
        to_lanes(columns.value.data() + t * width * stride, stride, whole, value.data() + t * stride);
        to_lanes(columns.added.data() + t * width * stride, stride, whole, added.data() + t * stride);
    }
    advect(n);
    mix(n);
    for (int64_t t = 0; t < tracers; ++t)
        from_lanes(value.data() + t * stride, whole, columns.value.data() + t * width * stride, stride);
}

// Makes of values and what was added the values after advection, not yet mixed.
void Vertical::advect(int64_t n) {
    const Lanes zero{};
    up[n] = zero; // what moves upward through a level's top, over the area: m
    for (int64_t k = n - 1; k >= 0; --k) {
        h[k] = double(k) < levels ? h[k] : zero + 1;
        up[k] = up[k + 1] - ratio * up[k];
    }
    up[0] = zero;
    for (int64_t k = 1; k < n; ++k) {
        const auto rises = up[k] > zero;
        courant[k] = (rises ? up[k] : -up[k]) / (rises ? h[k] : h[k - 1]);
    }
    for (int64_t t = 0; t < tracers; ++t) {
        Lanes *q = value.data() + t * stride;
        through[0] = through[n] = zero;
        for (int64_t k = 1; k < n; ++k) {
            const Lanes below = q[k], above = q[k - 1];
            const Lanes deeper = k + 1 < n ? (double(k + 1) < levels ? q[k + 1] : below) : below;
            const Lanes higher = k > 1 ? q[k - 2] : above;
            const auto rises = up[k] > zero;
            const Lanes moved = rises ? up[k] : -up[k];
            const Lanes amount = limited_part<Lanes>(moved, rises ? h[k] : h[k - 1], courant[k], rises ? below : above,
                                                     rises ? above : below, rises ? deeper : higher);
            through[k] = rises ? amount : -amount;
        }
        for (int64_t k = 0; k < n; ++k) {
            const Lanes after = k == 0 ? top : zero + grid.thickness[k];
            const Lanes content = (h[k] * q[k] + (through[k + 1] - through[k])) + added[t * stride + k];
            q[k] = content / after;
        }
    }
}

// 1 where the water of level k - 1 is heavier than that of level k at their interface.
Lanes Vertical::heavier_above(int64_t k) const {
    const Lanes *t = value.data(), *s = t + stride, zero{};
    if (numbers.state_equation == StateEquation::linear) {
        const Lanes buoyancy = numbers.expansion * (t[k - 1] - t[k]) - numbers.contraction * (s[k - 1] - s[k]);
        return buoyancy < 0 ? zero + 1 : zero;
    }
    const double pressure = numbers.density * numbers.gravity * grid.bottoms[k];
    const Wright<Lanes> above(t[k - 1], s[k - 1]), below(t[k], s[k]);
    const Lanes left = above.numerator(pressure) * below.denominator(pressure);
    return left > below.numerator(pressure) * above.denominator(pressure) ? zero + 1 : zero;
}

void Vertical::mix(int64_t n) {
    const double background = numbers.vertical_diffusivity;
    const double convective = std::max(background, numbers.convective_diffusivity);
    if (convective <= 0)
        return;
    const Lanes zero{};
    const auto thickness = [&](int64_t k) { return k == 0 ? top : zero + grid.thickness[k]; };
    coupling[0] = coupling[n] = zero;
    for (int64_t k = 1; k < n; ++k) {
        Lanes diffusivity = zero + background;
        if (convective > background)
            diffusivity = heavier_above(k) > 0 ? zero + convective : diffusivity;
        coupling[k] = double(k) < levels ? (2 * dt) * diffusivity / (thickness(k - 1) + thickness(k)) : zero;
    }
    for (int64_t k = 0; k < n; ++k) {
        Lanes pivot = thickness(k) + (coupling[k] + coupling[k + 1]);
        if (k)
            pivot -= coupling[k] * (coupling[k] * inverse[k - 1]);
        inverse[k] = 1 / pivot;
    }
    for (int64_t t = 0; t < tracers; ++t) {
        Lanes *q = value.data() + t * stride;
        // The increment is solved for: a uniform tracer stays what it is.
        Lanes upper = q[0], carried = coupling[1] * ((n > 1 ? q[1] : q[0]) - q[0]);
        added[t * stride] = carried;
        for (int64_t k = 1; k < n; ++k) {
            const Lanes here = q[k], lower = k + 1 < n ? q[k + 1] : here;
            const Lanes right = coupling[k] * (upper - here) + coupling[k + 1] * (lower - here);
            carried = right + coupling[k] * (carried * inverse[k - 1]);
            added[t * stride + k] = carried;
            upper = here;
        }
        Lanes increment = zero;
        for (int64_t k = n - 1; k >= 0; --k) {
            increment = inverse[k] * (added[t * stride + k] + coupling[k + 1] * increment);
            q[k] += increment;
        }
    }
}

} // namespace fathometer::ocean
