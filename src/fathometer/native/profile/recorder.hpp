// What the preloaded library asks of the one that counts, which is compiled for one MPI.
#pragma once

#include <cstdint>

namespace fathometer::profile {

// Put wrappers in the place of `targets`, which are MPI's own functions by number. newer_calls: whether
// this MPI has functions of MPI 4 to which nothing listens.
using Begin = void (*)(void **targets, int functions, std::uint32_t checksum, bool newer_calls);

// What a process has begun: nothing, MPI by sessions alone, which have no world and are not counted, or a rank's file.
enum class Progress { None, Session, Counted };
using ProgressOf = Progress (*)();

} // namespace fathometer::profile
