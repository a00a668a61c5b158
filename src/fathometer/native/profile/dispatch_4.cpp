// Functions that came with MPI 4, in a library of their own: a program may ask whether its MPI has them by whether
// there is such a symbol, so that they are preloaded only where that MPI has them.

#include "dispatch.hpp"

namespace {
void *target(int number) { return fathometer_profile_target(number); }
} // namespace

#include "dispatch_4.inc"

extern "C" {
extern FATHOMETER_EXPORT const int fathometer_profile_listens_to_4;
const int fathometer_profile_listens_to_4 = 1;
}
