// What the machine can do at best: the yardstick of the kernels.
#pragma once

#include <cstdint>

namespace fathometer {

// a = b + s c by the threads of a new team: 12 bytes an element in single precision (STREAM's triad, McCalpin 1995).
void triad(float *a, const float *b, const float *c, std::int64_t n);

// Multiply-adds of vectors in registers by the threads of a new team, `rounds` of them a thread; returns their flops,
// two each. What is computed goes to `sink`, so that the compiler keeps it.
double multiply_adds(std::int64_t rounds, float *sink);

// Numbers of a row in the first cache gathered from places that jump about, two neighbours at each place as an
// interpolation needs them, by the threads of a new team, `rounds` of vectors a thread; returns how many numbers.
double gathers(std::int64_t rounds, float *sink);

} // namespace fathometer
