// Ticks: of the processor's counter where it runs at one speed on all cores, else nanoseconds of the system's clock.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace fathometer::profile {

inline std::uint64_t nanoseconds(clockid_t clock = CLOCK_MONOTONIC) {
    timespec now;
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// Whether the counter goes on at the same speed whatever the clock frequency, and in sleep.
inline bool counter_is_steady() {
#if defined(__x86_64__)
    std::FILE *file = std::fopen("/proc/cpuinfo", "re");
    if (file == nullptr)
        return false;
    char line[4096];
    bool steady = false;
    while (!steady && std::fgets(line, sizeof line, file) != nullptr)
        if (std::strncmp(line, "flags", 5) == 0) {
            steady = std::strstr(line, " constant_tsc") != nullptr && std::strstr(line, " nonstop_tsc") != nullptr;
            break;
        }
    std::fclose(file);
    return steady;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

extern bool by_counter; // decided once, at MPI_Init

inline std::uint64_t ticks() {
#if defined(__x86_64__)
    if (by_counter) [[likely]]
        return __rdtsc();
#elif defined(__aarch64__)
    if (by_counter) [[likely]] {
        std::uint64_t value;
        asm volatile("mrs %0, cntvct_el0" : "=r"(value));
        return value;
    }
#endif
    return nanoseconds();
}

} // namespace fathometer::profile
