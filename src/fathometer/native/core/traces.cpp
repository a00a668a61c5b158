#include "traces.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace fathometer {

namespace {

uint8_t swapped(uint8_t word) { return word; }
uint16_t swapped(uint16_t word) { return __builtin_bswap16(word); }
uint32_t swapped(uint32_t word) { return __builtin_bswap32(word); }
uint64_t swapped(uint64_t word) { return __builtin_bswap64(word); }

template <class Bits, bool swap> Bits load(const uint8_t *from) {
    Bits word;
    std::memcpy(&word, from, sizeof word);
    return swap ? swapped(word) : word;
}

bool foreign(const TraceRows &rows) { return rows.little != (std::endian::native == std::endian::little); }

template <class Bits, class Value, bool swap> void words_of(const TraceRows &rows, int64_t place, double *words) {
    for (int64_t r = 0; r < rows.count; ++r)
        words[r] = double(std::bit_cast<Value>(load<Bits, swap>(rows.data + r * rows.bytes + place)));
}

template <class Bits, class Value> void words_of(const TraceRows &rows, int64_t place, double *words) {
    foreign(rows) ? words_of<Bits, Value, true>(rows, place, words) : words_of<Bits, Value, false>(rows, place, words);
}

uint8_t bits_of(bool sound, bool odd) { return uint8_t((sound ? some_sound : 0) | (odd ? no_number : 0)); }

// Any pattern is a number: only whether all bytes are zero counts.
uint8_t integers(const uint8_t *samples, int64_t bytes) {
    uint64_t any = 0;
    int64_t b = 0;
    for (; b + 8 <= bytes; b += 8)
        any |= load<uint64_t, false>(samples + b);
    for (; b < bytes; ++b)
        any |= samples[b];
    return bits_of(any != 0, false);
}

// The masks are turned into the file's byte order, not the samples into this machine's.
template <bool swap> uint8_t ieee_singles(const uint8_t *samples, int64_t n) {
    const uint32_t size = swap ? swapped(0x7fffffffu) : 0x7fffffffu;
    const uint32_t exponent = swap ? swapped(0x7f800000u) : 0x7f800000u;
    uint32_t any = 0, odd = 0;
    for (int64_t k = 0; k < n; ++k) {
        const uint32_t word = load<uint32_t, false>(samples + 4 * k);
        any |= word & size;
        odd |= uint32_t((word & exponent) == exponent);
    }
    return bits_of(any != 0, odd != 0);
}

template <bool swap> uint8_t ieee_doubles(const uint8_t *samples, int64_t n) {
    uint64_t any = 0, odd = 0;
    for (int64_t k = 0; k < n; ++k) {
        const uint64_t word = load<uint64_t, swap>(samples + 8 * k);
        const uint32_t single = std::bit_cast<uint32_t>(float(std::bit_cast<double>(word)));
        any |= word & 0x7fffffffffffffffu;
        odd |= uint64_t((single & 0x7f800000u) == 0x7f800000u);
    }
    return bits_of(any != 0, odd != 0);
}

// IBM's floats, 0.fraction 16^(exponent - 64), know no NaN, but reach beyond 2^128, where those of float32 end: with an
// exponent of 96 none does, above it all that are normalised do.
template <bool swap> uint8_t ibm_singles(const uint8_t *samples, int64_t n) {
    uint32_t any = 0, large = 0;
    for (int64_t k = 0; k < n; ++k) {
        const uint32_t word = load<uint32_t, swap>(samples + 4 * k);
        any |= word & 0x00ffffffu;
        large |= uint32_t((word & 0x7f000000u) > 0x60000000u);
    }
    bool odd = false;
    for (int64_t k = 0; large && k < n; ++k) {
        const uint32_t word = load<uint32_t, swap>(samples + 4 * k);
        const double value = std::ldexp(double(word & 0x00ffffffu), 4 * (int(word >> 24 & 0x7fu) - 64) - 24);
        odd |= value > double(std::numeric_limits<float>::max());
    }
    return bits_of(any != 0, odd);
}

template <bool swap> uint8_t state_of(const uint8_t *samples, int64_t bytes, int format) {
    switch (format) {
    case 1:
        return ibm_singles<swap>(samples, bytes / 4);
    case 5:
        return ieee_singles<swap>(samples, bytes / 4);
    case 6:
        return ieee_doubles<swap>(samples, bytes / 8);
    default:
        return integers(samples, bytes);
    }
}

template <class Key> struct Peaks {
    Key peak, rest;
};

// Largest key of samples first to end. Several at a time: the compiler makes vectors of them.
template <class Key, class At> Key largest(int64_t first, int64_t end, const At &at) {
    constexpr int64_t lanes = 32 / sizeof(Key);
    std::array<Key, size_t(lanes)> most{};
    for (; first + lanes <= end; first += lanes)
        for (int64_t k = 0; k < lanes; ++k) {
            const Key key = at(first + k);
            most[size_t(k)] = key > most[size_t(k)] ? key : most[size_t(k)]; // false for NaN
        }
    for (; first < end; ++first) {
        const Key key = at(first);
        most[0] = key > most[0] ? key : most[0];
    }
    return *std::max_element(most.begin(), most.end());
}

// at(k): a number of sample k of n that grows with its magnitude, 0 for none. One pass, by blocks: only those around
// the peak are looked at again.
template <class Key, class At> Peaks<Key> peaks_of(int64_t n, int64_t beside, const At &at) {
    constexpr int64_t block = 128;
    thread_local std::vector<Key> blocks;
    blocks.clear();
    for (int64_t first = 0; first < n; first += block)
        blocks.push_back(largest<Key>(first, std::min(first + block, n), at));
    if (blocks.empty())
        return {Key(0), Key(0)};
    const auto highest = std::max_element(blocks.begin(), blocks.end());
    const Key peak = *highest;
    int64_t place = (highest - blocks.begin()) * block;
    while (place < n - 1 && at(place) != peak)
        ++place;
    const int64_t before = std::max<int64_t>(0, place - beside), behind = std::min(n, place + beside + 1);
    const int64_t whole = before / block, next = (behind + block - 1) / block; // blocks that are whole on either side
    Key rest = std::max(largest<Key>(whole * block, before, at), largest<Key>(behind, std::min(n, next * block), at));
    for (int64_t k = 0; k < int64_t(blocks.size()); ++k)
        if (k < whole || k >= next)
            rest = std::max(rest, blocks[size_t(k)]);
    return {peak, rest};
}

template <class Bits, class Value, bool swap>
Peaks<double> numbers(const uint8_t *samples, int64_t bytes, int64_t beside) {
    return peaks_of<double>(bytes / int64_t(sizeof(Bits)), beside, [=](int64_t k) {
        return std::abs(double(std::bit_cast<Value>(load<Bits, swap>(samples + int64_t(sizeof(Bits)) * k))));
    });
}

// Without their sign the bits of floats grow with the magnitude; NaN counts as 0.
template <bool swap> Peaks<double> ieee_floats(const uint8_t *samples, int64_t bytes, int64_t beside) {
    const auto found = peaks_of<int32_t>(bytes / 4, beside, [=](int64_t k) {
        const int32_t size = int32_t(load<uint32_t, swap>(samples + 4 * k) & 0x7fffffffu);
        return size <= 0x7f800000 ? size : 0;
    });
    return {double(std::bit_cast<float>(found.peak)), double(std::bit_cast<float>(found.rest))};
}

double ibm_magnitude(uint32_t word) {
    return std::ldexp(double(word & 0x00ffffffu), 4 * (int(word >> 24 & 0x7fu) - 64) - 24);
}

// So do those of IBM's floats where they are normalised, as all but a few writers leave them.
template <bool swap> Peaks<double> ibm_floats(const uint8_t *samples, int64_t bytes, int64_t beside) {
    const int64_t n = bytes / 4;
    uint32_t odd = 0;
    for (int64_t k = 0; k < n; ++k) {
        const uint32_t word = load<uint32_t, swap>(samples + 4 * k);
        odd |= uint32_t((word & 0x00f00000u) == 0) & uint32_t((word & 0x00ffffffu) != 0);
    }
    if (odd)
        return peaks_of<double>(n, beside,
                                [=](int64_t k) { return ibm_magnitude(load<uint32_t, swap>(samples + 4 * k)); });
    const auto found = peaks_of<int32_t>(n, beside, [=](int64_t k) {
        const uint32_t word = load<uint32_t, swap>(samples + 4 * k);
        return (word & 0x00ffffffu) ? int32_t(word & 0x7fffffffu) : 0;
    });
    return {ibm_magnitude(uint32_t(found.peak)), ibm_magnitude(uint32_t(found.rest))};
}

// Three bytes, as SEG-Y's formats 7 (signed) and 15 have them.
Peaks<double> three_bytes(const uint8_t *samples, int64_t bytes, int64_t beside, bool little, bool is_signed) {
    return peaks_of<double>(bytes / 3, beside, [=](int64_t k) {
        const uint8_t *sample = samples + 3 * k;
        const uint32_t word =
            little ? sample[2] << 16 | sample[1] << 8 | sample[0] : sample[0] << 16 | sample[1] << 8 | sample[2];
        return std::abs(is_signed && word >> 23 ? double(word) - double(1 << 24) : double(word));
    });
}

template <bool swap>
Peaks<double> peaks_in(const uint8_t *samples, int64_t bytes, int format, int64_t beside, bool little) {
    switch (format) {
    case 1:
        return ibm_floats<swap>(samples, bytes, beside);
    case 2:
        return numbers<uint32_t, int32_t, swap>(samples, bytes, beside);
    case 3:
        return numbers<uint16_t, int16_t, swap>(samples, bytes, beside);
    case 5:
        return ieee_floats<swap>(samples, bytes, beside);
    case 6:
        return numbers<uint64_t, double, swap>(samples, bytes, beside);
    case 8:
        return numbers<uint8_t, int8_t, swap>(samples, bytes, beside);
    case 9:
        return numbers<uint64_t, int64_t, swap>(samples, bytes, beside);
    case 10:
        return numbers<uint32_t, uint32_t, swap>(samples, bytes, beside);
    case 11:
        return numbers<uint16_t, uint16_t, swap>(samples, bytes, beside);
    case 12:
        return numbers<uint64_t, uint64_t, swap>(samples, bytes, beside);
    case 16:
        return numbers<uint8_t, uint8_t, swap>(samples, bytes, beside);
    default:
        return three_bytes(samples, bytes, beside, little, format == 7);
    }
}

} // namespace

int64_t word_bytes(WordKind kind) {
    switch (kind) {
    case WordKind::i1:
    case WordKind::u1:
        return 1;
    case WordKind::i2:
    case WordKind::u2:
        return 2;
    case WordKind::i4:
    case WordKind::u4:
    case WordKind::f4:
        return 4;
    case WordKind::f8:
        return 8;
    }
    return 0;
}

void trace_words(const TraceRows &rows, int64_t place, WordKind kind, double *words) {
    switch (kind) {
    case WordKind::i1:
        return words_of<uint8_t, int8_t>(rows, place, words);
    case WordKind::u1:
        return words_of<uint8_t, uint8_t>(rows, place, words);
    case WordKind::i2:
        return words_of<uint16_t, int16_t>(rows, place, words);
    case WordKind::u2:
        return words_of<uint16_t, uint16_t>(rows, place, words);
    case WordKind::i4:
        return words_of<uint32_t, int32_t>(rows, place, words);
    case WordKind::u4:
        return words_of<uint32_t, uint32_t>(rows, place, words);
    case WordKind::f4:
        return words_of<uint32_t, float>(rows, place, words);
    case WordKind::f8:
        return words_of<uint64_t, double>(rows, place, words);
    }
}

void trace_states(const TraceRows &rows, int64_t header, int format, uint8_t *states) {
    for (int64_t r = 0; r < rows.count; ++r) {
        const uint8_t *samples = rows.data + r * rows.bytes + header;
        states[r] = foreign(rows) ? state_of<true>(samples, rows.bytes - header, format)
                                  : state_of<false>(samples, rows.bytes - header, format);
    }
}

void trace_peaks(const TraceRows &rows, int64_t header, int format, int64_t beside, double *peaks, double *rest) {
    for (int64_t r = 0; r < rows.count; ++r) {
        const uint8_t *samples = rows.data + r * rows.bytes + header;
        const int64_t bytes = rows.bytes - header;
        const Peaks<double> found = foreign(rows) ? peaks_in<true>(samples, bytes, format, beside, rows.little)
                                                  : peaks_in<false>(samples, bytes, format, beside, rows.little);
        peaks[r] = found.peak;
        rest[r] = found.rest;
    }
}

} // namespace fathometer
