// What the system has counted for this process: processor time, page faults, bytes of files; with COUNTERS the
// processor's own events.
#pragma once

#include "layout.hpp"

namespace fathometer::profile {

// Begin to count the processor's events for this thread and those that it makes; errno where the system refuses, else
// 0.
int open_counters();

// The state of now.
void read_usage(Usage &usage);

} // namespace fathometer::profile
