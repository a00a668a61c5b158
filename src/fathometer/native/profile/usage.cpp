#include "usage.hpp"

#include "clock.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fathometer::profile {

namespace {

int counter_files[4] = {-1, -1, -1, -1};

std::uint64_t field(const char *text, const char *name) {
    const char *at = std::strstr(text, name);
    return at == nullptr ? 0 : std::strtoull(at + std::strlen(name), nullptr, 10);
}

} // namespace

int open_counters() {
    constexpr std::uint64_t events[4] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                         PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES};
    int error = 0;
    for (int n = 0; n < 4; ++n) {
        perf_event_attr wanted = {};
        wanted.type = PERF_TYPE_HARDWARE;
        wanted.size = sizeof wanted;
        wanted.config = events[n];
        wanted.inherit = 1;
        wanted.exclude_kernel = 1; // what an ordinary user may count
        wanted.exclude_hv = 1;
        wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        counter_files[n] = static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
        if (counter_files[n] < 0 && n < 2) // without caches the first two are worth having
            error = errno;
    }
    return error;
}

void read_usage(Usage &usage) {
    rusage own;
    if (getrusage(RUSAGE_SELF, &own) == 0) {
        usage.user_microseconds = static_cast<std::uint64_t>(own.ru_utime.tv_sec) * 1000000u +
                                  static_cast<std::uint64_t>(own.ru_utime.tv_usec);
        usage.system_microseconds = static_cast<std::uint64_t>(own.ru_stime.tv_sec) * 1000000u +
                                    static_cast<std::uint64_t>(own.ru_stime.tv_usec);
        usage.minor_faults = static_cast<std::uint64_t>(own.ru_minflt);
        usage.major_faults = static_cast<std::uint64_t>(own.ru_majflt);
        usage.resident_kilobytes = static_cast<std::uint64_t>(own.ru_maxrss);
        usage.voluntary_switches = static_cast<std::uint64_t>(own.ru_nvcsw);
        usage.involuntary_switches = static_cast<std::uint64_t>(own.ru_nivcsw);
    }
    char text[1024];
    const int file = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    usage.io_known = length > 0;
    if (length > 0) {
        text[length] = 0;
        usage.characters_read = field(text, "rchar: ");
        usage.characters_written = field(text, "wchar: ");
        usage.bytes_read = field(text, "\nread_bytes: ");
        usage.bytes_written = field(text, "\nwrite_bytes: ");
    }
    for (int n = 0; n < 4; ++n) {
        std::uint64_t
            values[3]; // the count, and for how long it was to run and ran: the hardware may be shared in turns
        if (counter_files[n] >= 0 && read(counter_files[n], values, sizeof values) == sizeof values && values[2] > 0)
            usage.counters[n] = static_cast<std::uint64_t>(
                static_cast<double>(values[0]) * (static_cast<double>(values[1]) / static_cast<double>(values[2])));
    }
    usage.nanoseconds = nanoseconds();
}

} // namespace fathometer::profile
