#include "operator.hpp"

#include <cstring>

#include "core/denormals.hpp"
#include "core/simd.hpp"
#include "nodes.hpp"

namespace fathometer::kirchhoff {

namespace {

using Floats = Vector<float>;
constexpr int width = lanes<float>;
static_assert(segment % width == 0);

constexpr int64_t chunk = 8; // columns of a thread at a time, which share the rows of a trace in the caches

// The root of what is above 0, within 2 units in the last place: an estimate of 14 bits and a step of Newton, since the
// processor takes five times as long for a root (16 lanes in some 20 cycles).
[[gnu::always_inline]] inline Floats root(Floats v) {
#if defined(__AVX512F__)
    const __m512 a = __m512(v), y = _mm512_rsqrt14_ps(a), s = _mm512_mul_ps(a, y);
    return Floats(_mm512_fmadd_ps(_mm512_fnmadd_ps(s, s, a), _mm512_mul_ps(_mm512_set1_ps(0.5f), y), s));
#elif defined(__AVX2__)
    return Floats(_mm256_sqrt_ps(__m256(v)));
#else
    for (int l = 0; l < width; ++l)
        v[l] = std::sqrt(v[l]);
    return v;
#endif
}

typedef int32_t Ints __attribute__((vector_size(vector_bytes)));

// Where the rows of triangles of these half-lengths begin, in samples (row_of of each lane).
[[gnu::always_inline]] inline Ints begin_of(Floats length, const Bank &bank) {
    Ints row = (std::bit_cast<Ints>(length) - row_origin) >> row_shift;
    row = row > 0 ? row : Ints{};
    const Ints highest = Ints{} + int32_t(bank.rows - 1);
    row = row < highest ? row : highest;
    return row * int32_t(bank.length());
}

// Linear interpolation between samples of rows at fractional places, 0 <= place <= last; a row's [last + 1] exists.
[[gnu::always_inline]] inline Floats interpolated(const float *rows, Ints begin, Floats place, float last) {
#if defined(__AVX512F__)
    const __m512 p = _mm512_min_ps(_mm512_max_ps(__m512(place), _mm512_setzero_ps()), _mm512_set1_ps(last));
    const __m512i whole = _mm512_cvttps_epi32(p), k = _mm512_add_epi32(whole, __m512i(begin));
    // Both samples by one load: pairs of floats as doubles.
    const __m512d low = _mm512_i32gather_pd(_mm512_castsi512_si256(k), rows, 4);
    const __m512d high = _mm512_i32gather_pd(_mm512_extracti64x4_epi64(k, 1), rows, 4);
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const __m512 first = _mm512_permutex2var_ps(_mm512_castpd_ps(low), even, _mm512_castpd_ps(high));
    const __m512 second = _mm512_permutex2var_ps(_mm512_castpd_ps(low), odd, _mm512_castpd_ps(high));
    const __m512 part = _mm512_sub_ps(p, _mm512_cvtepi32_ps(whole));
    return Floats(_mm512_fmadd_ps(part, _mm512_sub_ps(second, first), first));
#elif defined(__AVX2__) && defined(__FMA__)
    const __m256 p = _mm256_min_ps(_mm256_max_ps(__m256(place), _mm256_setzero_ps()), _mm256_set1_ps(last));
    const __m256i whole = _mm256_cvttps_epi32(p), k = _mm256_add_epi32(whole, __m256i(begin));
    const __m256 first = _mm256_i32gather_ps(rows, k, 4), second = _mm256_i32gather_ps(rows + 1, k, 4);
    const __m256 part = _mm256_sub_ps(p, _mm256_cvtepi32_ps(whole));
    return Floats(_mm256_fmadd_ps(part, _mm256_sub_ps(second, first), first));
#else
    Floats result;
    for (int l = 0; l < width; ++l) {
        const float p = std::min(std::max(place[l], 0.0f), last);
        const int32_t k = int32_t(p);
        const float *const at = rows + begin[l] + k;
        result[l] = madd<float>(p - float(k), at[1] - at[0], at[0]);
    }
    return result;
#endif
}

// Times of t0 and their like, the same for all columns.
struct Axis {
    std::vector<float> quarter; // (t0/2)², s²; above 0, as roots are taken of it
    explicit Axis(const Tile &tile) : quarter(std::size_t(tile.segments * segment)) {
        for (std::size_t k = 0; k < quarter.size(); ++k) {
            const double half = 0.5 * (tile.start + double(k) * tile.dt);
            quarter[k] = std::max(float(half * half), 1e-12f);
        }
    }
};

// What of the square of a leg's time depends on eta and t0 alone, of some columns. As arrays, since one trace after
// another needs it: the division and what follows take a third of the time of a sample.
class Anelliptic {
  public:
    struct Samples {
        const float *g, *b, *k; // k: g (1 - 4 b) (t0/2)²
    };

    void fill(const Tile &tile, const Axis &axis, int64_t begin, int64_t end) {
        if (!tile.eta)
            return;
        const int64_t length = tile.segments * segment;
        first = begin;
        values.resize(std::size_t(3 * (end - begin) * length));
        for (int64_t c = begin; c < end; ++c) {
            const float *const eta = tile.eta + c * length;
            float *const of = values.data() + 3 * (c - begin) * length;
            for (int64_t n = 0; n < length; ++n) {
                const float g = 1.0f / (1.0f + 2.0f * eta[n]), b = 0.25f / (1.0f + eta[n]);
                of[n] = g;
                of[length + n] = b;
                of[2 * length + n] = g * (1.0f - 4.0f * b) * axis.quarter[std::size_t(n)];
            }
        }
    }

    Samples of(const Tile &tile, int64_t column) const {
        if (!tile.eta)
            return {nullptr, nullptr, nullptr};
        const int64_t length = tile.segments * segment;
        const float *const from = values.data() + 3 * (column - first) * length;
        return {from, from + length, from + 2 * length};
    }

  private:
    std::vector<float> values;
    int64_t first = 0;
};

// Square of the time of a leg, s². Both roots are of what is above 0, for eta > -1/2.
[[gnu::always_inline]] inline Floats squared(Floats quarter, Floats X, Floats g, Floats b, Floats k) {
    const Floats H = madd(g, X, quarter), bH = b * H;
    return H - bH + root(madd(bH, bH, k * X));
}

// Operator times of `width` samples as places in a row; at: index of the first.
template <bool has_eta>
[[gnu::always_inline]] inline Floats place(const float *quarter, const float *slowness2,
                                           [[maybe_unused]] const Anelliptic::Samples &of, int64_t at, float s2,
                                           float r2, float inverse, float offset) {
    const Floats q = load(quarter + at), u = load(slowness2 + at);
    Floats sum;
    if constexpr (has_eta) {
        const Floats g = load(of.g + at), b = load(of.b + at), k = load(of.k + at);
        sum = root(squared(q, u * s2, g, b, k)) + root(squared(q, u * r2, g, b, k));
    } else {
        sum = root(q + u * s2) + root(q + u * r2);
    }
    return madd(sum, all_lanes(inverse), all_lanes(offset));
}

template <int n> [[gnu::always_inline]] inline Floats steps() {
    Floats v;
    for (int l = 0; l < width; ++l)
        v[l] = float(n + l) / float(segment);
    return v;
}

struct Column {
    const float *slowness2;
    Anelliptic::Samples of;
    float *image, *fold;
};

template <bool has_eta>
int64_t add_trace(const Column &column, const Axis &axis, const Nodes &nodes, const Legs &legs, const Bank &bank,
                  const float *rows, float inverse, float offset, int64_t first, int64_t segments) {
    const float last = float(bank.length() - 2);
    const float *const weights = nodes.weights(), *const lengths = nodes.lengths();
    for (int64_t s = first; s < segments; ++s) {
        const float w0 = weights[s], dw = weights[s + 1] - w0, l0 = lengths[s], dl = lengths[s + 1] - l0;
        for (int n = 0; n < segment; n += width) {
            const int64_t k = s * segment + n;
            const Floats at =
                place<has_eta>(axis.quarter.data(), column.slowness2, column.of, k, legs.s2, legs.r2, inverse, offset);
            const Floats part = steps<0>() + float(n) / float(segment);
            const Ints begin = begin_of(madd(part, all_lanes(dl), all_lanes(l0)), bank);
            const Floats u = interpolated(rows, begin, at, last);
            store(column.image + k, madd(madd(part, all_lanes(dw), all_lanes(w0)), u, load(column.image + k)));
        }
    }
    if (column.fold)
        for (int64_t s = first; s <= segments; ++s)
            column.fold[s] += nodes.tapers()[s];
    return (segments - first) * segment;
}

struct Clock {
    float inverse;
    double margin;
    const Traces &traces;
    explicit Clock(const Traces &traces)
        : inverse(float(1.0 / traces.interval)), margin(double(traces.bank.margin)), traces(traces) {}
    float offset(const double *geometry) const {
        return float((geometry[4] - traces.first) / traces.interval + margin);
    }
};

Column column_of(const Tile &tile, const Anelliptic &anelliptic, int64_t column, int32_t volume) {
    const int64_t length = tile.segments * segment, at = column * length;
    return {tile.slowness2 + at, anelliptic.of(tile, column),
            tile.image + (volume * tile.nx * tile.ny + column) * length,
            tile.fold ? tile.fold + column * (tile.segments + 1) : nullptr};
}

} // namespace

int64_t migrate(const Tile &tile, const Traces &traces, const Operator &op) {
    const int64_t columns = tile.nx * tile.ny, size = traces.bank.rows * traces.bank.length();
    const Axis axis(tile);
    const Clock clock(traces);
    int64_t samples = 0;
#pragma omp parallel reduction(+ : samples)
    {
        const FlushDenormals flush;
        Nodes nodes(tile, op);
        nodes.unit(double(traces.bank.unit) * traces.interval);
        Anelliptic anelliptic;
        const auto add = tile.eta ? add_trace<true> : add_trace<false>;
#pragma omp for schedule(dynamic, 1)
        for (int64_t begin = 0; begin < columns; begin += chunk) {
            const int64_t end = std::min(begin + chunk, columns);
            anelliptic.fill(tile, axis, begin, end);
            for (int64_t t = 0; t < traces.count; ++t) {
                if (traces.volume[t] < 0)
                    continue;
                const double *geometry = traces.geometry + 5 * t;
                for (int64_t c = begin; c < end; ++c) {
                    const Legs legs = nodes.legs(geometry, tile.column_x(c), tile.column_y(c));
                    if (legs.near == 0.0f)
                        continue;
                    const Column column = column_of(tile, anelliptic, c, traces.volume[t]);
                    const int64_t first = nodes.evaluate(legs, c);
                    samples += add(column, axis, nodes, legs, traces.bank, traces.rows + t * size, clock.inverse,
                                   clock.offset(geometry), first, tile.segments);
                }
            }
        }
    }
    return samples;
}

void demigrate(const Tile &tile, const Traces &traces, const Operator &op, float *rows) {
    const int64_t columns = tile.nx * tile.ny, length = traces.bank.length(), size = traces.bank.rows * length;
    const Axis axis(tile);
    const Clock clock(traces);
    const float last = float(length - 2);
    const int32_t n_rows = int32_t(traces.bank.rows);
    Anelliptic anelliptic;
    anelliptic.fill(tile, axis, 0, columns);
    const auto places = tile.eta ? place<true> : place<false>;
#pragma omp parallel
    {
        const FlushDenormals flush;
        Nodes nodes(tile, op);
        nodes.unit(double(traces.bank.unit) * traces.interval);
#pragma omp for schedule(dynamic, 1)
        for (int64_t t = 0; t < traces.count; ++t) {
            if (traces.volume[t] < 0)
                continue;
            const double *geometry = traces.geometry + 5 * t;
            for (int64_t c = 0; c < columns; ++c) {
                const Legs legs = nodes.legs(geometry, tile.column_x(c), tile.column_y(c));
                if (legs.near == 0.0f)
                    continue;
                const Column column = column_of(tile, anelliptic, c, traces.volume[t]);
                const int64_t first = nodes.evaluate(legs, c);
                for (int64_t s = first; s < tile.segments; ++s) {
                    const float w0 = nodes.weights()[s], dw = nodes.weights()[s + 1] - w0;
                    const float l0 = nodes.lengths()[s], dl = nodes.lengths()[s + 1] - l0;
                    for (int n = 0; n < segment; n += width) {
                        const int64_t k = s * segment + n;
                        const Floats at = places(axis.quarter.data(), column.slowness2, column.of, k, legs.s2, legs.r2,
                                                 clock.inverse, clock.offset(geometry));
                        for (int l = 0; l < width; ++l) {
                            const float p = std::min(std::max(at[l], 0.0f), last);
                            const int32_t i = int32_t(p);
                            const float part = float(n + l) / float(segment);
                            const float value = madd<float>(part, dw, w0) * column.image[k + l];
                            float *row = rows + t * size + row_of(madd<float>(part, dl, l0), n_rows) * length;
                            row[i] += (1.0f - (p - float(i))) * value;
                            row[i + 1] += (p - float(i)) * value;
                        }
                    }
                }
            }
        }
    }
}

} // namespace fathometer::kirchhoff
