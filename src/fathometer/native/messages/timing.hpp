// The timed loops: a series, each exchange alone, exchanges in windows of a common clock.
#pragma once

#include "exchange.hpp"

namespace fathometer::messages {

// Seconds of `repetitions` exchanges, one after the other without a look at the clock in between, after a barrier over
// `start`. With several slots the messages are put out of the caches and the ranks of `comm` meet before each batch of
// slots; only the batches are timed. Raises Failed.
double series(Exchange &exchange, MPI_Comm comm, MPI_Comm start, std::int64_t repetitions, int slots);

// Seconds of each of the exchanges alone, with one reading of the clock each.
void each(Exchange &exchange, MPI_Comm start, std::int64_t repetitions, double *seconds);

// Exchanges that begin at times agreed upon (Hunold & Carpen-Amarie 2016, IEEE TPDS 27, 3617): the n-th one at `first`
// + n `window` of rank 0's clock, which is this rank's plus `offset` + `drift` times this rank's reading since
// `origin`. Gets each one's end, s after its window's begin by rank 0's clock; -1 where the window had begun before
// this rank was there.
struct Windows {
    double first, window, offset, drift, origin;
};
void in_windows(Exchange &exchange, const Windows &windows, std::int64_t repetitions, double *ends);

// Bounds of what rank 0's clock is ahead of another rank's, from round trips: each reading of rank 0's clock was made
// between two of the other's (Cristian 1989, Distributed Computing 3, 146); the tightest of all bounds. On that rank;
// rank 0 gets zeros, ranks in between take no part. reading: of the other's clock, in the middle of the round trips.
struct Offset {
    double low, high, reading;
};
Offset clock_offset(MPI_Comm comm, int other, int round_trips);

// The parametrised round trip of LogGP parameters (Hoefler, Lichei & Rehm 2007, IPDPS): rank 0 sends `count` messages,
// each `delay` seconds after the end of the call before, then one message comes back. Seconds of one of `repetitions`
// that follow each other, on rank 0, else 0.
double round_trip(MPI_Comm pair, int count, double delay, std::int64_t length, std::int64_t repetitions,
                  unsigned char *buffer);

// Whether a message leaves its sender (rank 0) before its receiver has asked for it, within `patience` seconds: then
// MPI sends it eagerly. The same on both ranks.
bool is_eager(MPI_Comm pair, std::int64_t length, double patience, unsigned char *buffer);

} // namespace fathometer::messages
