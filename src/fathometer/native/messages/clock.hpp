// The clock of all measurements of messages.
#pragma once

#include <chrono>

namespace fathometer::messages {

// Seconds on this host's steady clock.
inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Clock {
    double resolution, cost; // s: the smallest difference that is seen; of a reading
};

Clock calibrated();

} // namespace fathometer::messages
