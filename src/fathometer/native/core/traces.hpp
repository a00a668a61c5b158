// Traces as they lie in a SEG-Y or SU file, before anything is decoded: words of their headers, and what their samples
// are. TraceRows are whole traces, header first, one after another. Nothing is converted that need not be: an index of
// a survey reads every byte of it, and should be as fast as the reading.
#pragma once

#include <cstdint>

namespace fathometer {

// Types of a word of a header.
enum class WordKind : int32_t { i1, u1, i2, u2, i4, u4, f4, f8 };

// Bytes of a word; 0 for what is no kind.
int64_t word_bytes(WordKind kind);

// What is known of the samples of a trace: bits.
constexpr uint8_t some_sound = 1; // a sample is not zero
constexpr uint8_t no_number = 2;  // a sample is NaN, infinite, or beyond what float32 holds

struct TraceRows {
    const uint8_t *data;
    int64_t count, bytes; // rows, bytes of each
    bool little;          // byte order of the file
};

// The word that begins at byte `place` (from 0) of every row, as double[count]: exact for all kinds.
void trace_words(const TraceRows &rows, int64_t place, WordKind kind, double *words);

// The bits above for the samples behind the first `header` bytes of every row. format: SEG-Y's code; what is neither a
// float of IBM (1) nor of IEEE (5, 6) is an integer, of which every pattern is a number.
void trace_states(const TraceRows &rows, int64_t header, int format, uint8_t *states);

// Largest magnitudes of the samples of every row: peaks[count] of all, rest[count] of those more than `beside` samples
// away from the first that has the peak; NaN does not count. Arguments as of trace_states.
void trace_peaks(const TraceRows &rows, int64_t header, int format, int64_t beside, double *peaks, double *rest);

} // namespace fathometer
