// Plain functions for ctypes (lab/messages/library.py): none raises; what went wrong is text in `error`, of `room`
// bytes. Communicators come by address, since their type is one of each MPI library.

#include "buffer.hpp"
#include "clock.hpp"
#include "exchange.hpp"
#include "timing.hpp"
#include "variables.hpp"

#include <cstdio>
#include <exception>

using namespace fathometer::messages;

namespace {

struct Open {
    std::unique_ptr<Exchange> exchange;
    MPI_Comm comm;
    int slots;
};

// The result of `work`, or `otherwise` with what went wrong as text.
template <class Work, class Result> Result guarded(char *error, int room, Result otherwise, Work work) {
    try {
        if (room > 0)
            error[0] = '\0';
        return work();
    } catch (const std::bad_alloc &) {
        std::snprintf(error, static_cast<std::size_t>(room), "not enough memory");
    } catch (const std::exception &raised) {
        std::snprintf(error, static_cast<std::size_t>(room), "%s", raised.what());
    }
    return otherwise;
}

} // namespace

extern "C" {

int messages_version(char *text, int room) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(version, &length) != MPI_SUCCESS)
        return 0;
    return std::snprintf(text, static_cast<std::size_t>(room), "%s", version);
}

void messages_clock(double *resolution, double *cost) {
    const Clock clock = calibrated();
    *resolution = clock.resolution;
    *cost = clock.cost;
}

double messages_now() { return now(); }

int messages_can_flush() { return can_flush(); }

void *messages_open(const MPI_Comm *comm, const char *pattern, const char *protocol, const char *direction,
                    std::int64_t length, std::int64_t packet, int slots, std::uint64_t seed, char *error, int room) {
    return guarded(error, room, static_cast<void *>(nullptr), [&]() -> void * {
        const Case wanted{pattern, protocol, direction, length, packet, slots, seed};
        return new Open{open_exchange(*comm, wanted), *comm, slots};
    });
}

void messages_close(void *handle) { delete static_cast<Open *>(handle); }

std::int64_t messages_bytes(const void *handle) { return static_cast<const Open *>(handle)->exchange->bytes_sent(); }

int messages_prepare(void *handle, std::uint64_t series, char *error, int room) {
    return guarded(error, room, -1, [&] {
        static_cast<Open *>(handle)->exchange->prepare(series);
        return 0;
    });
}

std::int64_t messages_wrong(void *handle, char *error, int room) {
    return guarded(error, room, std::int64_t{-1}, [&] { return static_cast<Open *>(handle)->exchange->wrong(); });
}

double messages_series(void *handle, const MPI_Comm *start, std::int64_t repetitions, char *error, int room) {
    return guarded(error, room, -1.0, [&] {
        Open &open = *static_cast<Open *>(handle);
        return series(*open.exchange, open.comm, *start, repetitions, open.slots);
    });
}

int messages_each(void *handle, const MPI_Comm *start, std::int64_t repetitions, double *seconds, char *error,
                  int room) {
    return guarded(error, room, -1, [&] {
        each(*static_cast<Open *>(handle)->exchange, *start, repetitions, seconds);
        return 0;
    });
}

int messages_windows(void *handle, double first, double window, double offset, double drift, double origin,
                     std::int64_t repetitions, double *ends, char *error, int room) {
    return guarded(error, room, -1, [&] {
        in_windows(*static_cast<Open *>(handle)->exchange, {first, window, offset, drift, origin}, repetitions, ends);
        return 0;
    });
}

int messages_offset(const MPI_Comm *comm, int other, int round_trips, double *low, double *high, double *reading,
                    char *error, int room) {
    return guarded(error, room, -1, [&] {
        const Offset offset = clock_offset(*comm, other, round_trips);
        *low = offset.low;
        *high = offset.high;
        *reading = offset.reading;
        return 0;
    });
}

double messages_round_trip(const MPI_Comm *pair, int count, double delay, std::int64_t length, std::int64_t repetitions,
                           char *error, int room) {
    return guarded(error, room, -1.0, [&] {
        Buffer buffer(static_cast<std::size_t>(length));
        poison(buffer.data(), buffer.size());
        return round_trip(*pair, count, delay, length, repetitions, buffer.data());
    });
}

int messages_is_eager(const MPI_Comm *pair, std::int64_t length, double patience, char *error, int room) {
    return guarded(error, room, -1, [&] {
        Buffer buffer(static_cast<std::size_t>(length));
        poison(buffer.data(), buffer.size());
        return static_cast<int>(is_eager(*pair, length, patience, buffer.data()));
    });
}

// What a control variable can be, with commas between.
int messages_choices(const char *name, char *text, int text_room, char *error, int room) {
    return guarded(error, room, -1, [&] {
        std::string listed;
        for (const std::string &choice : choices(name))
            listed += (listed.empty() ? "" : ",") + choice;
        return std::snprintf(text, static_cast<std::size_t>(text_room), "%s", listed.c_str());
    });
}

int messages_get_variable(const char *name, char *text, int text_room, char *error, int room) {
    return guarded(error, room, -1,
                   [&] { return std::snprintf(text, static_cast<std::size_t>(text_room), "%s", value(name).c_str()); });
}

int messages_set_variable(const char *name, const char *value, char *error, int room) {
    return guarded(error, room, -1, [&] {
        set_value(name, value);
        return 0;
    });
}
}
