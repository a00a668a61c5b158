// Entry points that bear the names of MPI's functions, in libraries that are preloaded into any program. They know no
// MPI: every argument of these functions is an integer or a pointer, which on Linux's 64-bit processors are passed on
// as they came, whatever the types of that MPI are. Where they lead is decided at a program's first call of MPI.
#pragma once

#include <cstdint>

#define FATHOMETER_EXPORT __attribute__((visibility("default")))

extern "C" {
// Where function `number` leads, found for all at the first call.
FATHOMETER_EXPORT void *fathometer_profile_target(int number);
}
