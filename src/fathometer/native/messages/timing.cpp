#include "timing.hpp"

#include "clock.hpp"
#include "pair.hpp"

#include <algorithm>
#include <limits>

namespace fathometer::messages {

double series(Exchange &exchange, MPI_Comm comm, MPI_Comm start, std::int64_t repetitions, int slots) {
    double seconds = 0.0;
    check(MPI_Barrier(start));
    if (slots == 1) {
        const double begin = now();
        for (std::int64_t n = 0; n < repetitions; ++n)
            exchange.once(0);
        exchange.finish();
        seconds = now() - begin;
    } else {
        for (std::int64_t done = 0; done < repetitions; done += slots) {
            const int batch = static_cast<int>(std::min<std::int64_t>(slots, repetitions - done));
            exchange.flush();
            check(MPI_Barrier(comm));
            const double begin = now();
            for (int slot = 0; slot < batch; ++slot)
                exchange.once(slot);
            exchange.finish();
            seconds += now() - begin;
        }
    }
    check(exchange.keep.first());
    return seconds;
}

void each(Exchange &exchange, MPI_Comm start, std::int64_t repetitions, double *seconds) {
    check(MPI_Barrier(start));
    double last = now();
    for (std::int64_t n = 0; n < repetitions; ++n) {
        exchange.once(0);
        const double reading = now();
        seconds[n] = reading - last;
        last = reading;
    }
    exchange.finish();
    check(exchange.keep.first());
}

void in_windows(Exchange &exchange, const Windows &windows, std::int64_t repetitions, double *ends) {
    const auto common = [&](double reading) {
        return reading + windows.offset + windows.drift * (reading - windows.origin);
    };
    for (std::int64_t n = 0; n < repetitions; ++n) {
        const double begin = windows.first + static_cast<double>(n) * windows.window;
        const bool late = common(now()) > begin;
        while (common(now()) < begin) {
        }
        exchange.once(0);
        ends[n] = late ? -1.0 : common(now()) - begin;
    }
    check(exchange.keep.first());
}

Offset clock_offset(MPI_Comm comm, int other, int round_trips) {
    const int rank = rank_of(comm);
    double theirs = 0.0;
    if (rank == 0) {
        for (int n = 0; n < round_trips; ++n) {
            check(MPI_Recv(nullptr, 0, MPI_BYTE, other, tag, comm, MPI_STATUS_IGNORE));
            theirs = now();
            check(MPI_Send(&theirs, 1, MPI_DOUBLE, other, tag, comm));
        }
        return {0.0, 0.0, 0.0};
    }
    Offset offset{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), 0.0};
    if (rank != other)
        return {0.0, 0.0, 0.0};
    const double first = now();
    for (int n = 0; n < round_trips; ++n) {
        const double before = now();
        check(MPI_Send(nullptr, 0, MPI_BYTE, 0, tag, comm));
        check(MPI_Recv(&theirs, 1, MPI_DOUBLE, 0, tag, comm, MPI_STATUS_IGNORE));
        const double after = now();
        offset.low = std::max(offset.low, theirs - after);
        offset.high = std::min(offset.high, theirs - before);
    }
    offset.reading = (first + now()) / 2;
    return offset;
}

double round_trip(MPI_Comm pair, int count, double delay, std::int64_t length, std::int64_t repetitions,
                  unsigned char *buffer) {
    const int rank = rank_of(pair), size = static_cast<int>(length);
    check(MPI_Barrier(pair));
    Outcome keep;
    const double begin = now();
    for (std::int64_t done = 0; done < repetitions; ++done) {
        if (rank == 0) {
            for (int n = 0; n < count; ++n) {
                if (n > 0 && delay > 0)
                    for (const double until = now() + delay; now() < until;) {
                    }
                keep(MPI_Send(buffer, size, MPI_BYTE, 1, tag, pair));
            }
            keep(MPI_Recv(buffer, size, MPI_BYTE, 1, tag, pair, MPI_STATUS_IGNORE));
        } else {
            for (int n = 0; n < count; ++n)
                keep(MPI_Recv(buffer, size, MPI_BYTE, 0, tag, pair, MPI_STATUS_IGNORE));
            keep(MPI_Send(buffer, size, MPI_BYTE, 0, tag, pair));
        }
    }
    const double seconds = now() - begin;
    check(keep.first());
    return rank == 0 ? seconds / static_cast<double>(repetitions) : 0.0;
}

bool is_eager(MPI_Comm pair, std::int64_t length, double patience, unsigned char *buffer) {
    const int rank = rank_of(pair), size = static_cast<int>(length);
    int eager = 0;
    check(MPI_Barrier(pair));
    if (rank == 0) {
        MPI_Request request;
        check(MPI_Isend(buffer, size, MPI_BYTE, 1, tag, pair, &request));
        // Some tests at least, however long this rank was kept from its core meanwhile.
        constexpr int fewest = 1000;
        const double until = now() + patience;
        for (int tests = 0; !eager && (tests < fewest || now() < until); ++tests)
            check(MPI_Test(&request, &eager, MPI_STATUS_IGNORE));
        check(MPI_Send(&eager, 1, MPI_INT, 1, notice_tag, pair));
        if (!eager)
            check(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        check(MPI_Recv(&eager, 1, MPI_INT, 0, notice_tag, pair, MPI_STATUS_IGNORE));
        check(MPI_Recv(buffer, size, MPI_BYTE, 0, tag, pair, MPI_STATUS_IGNORE));
    }
    return eager != 0;
}

} // namespace fathometer::messages
