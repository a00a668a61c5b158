// The file of a rank, as it lies in memory and on disk: a header, tables of handles, and a block for each thread. The
// file is mapped, so that what was counted is there however the process ends. lab/profile/rank_file.py reads it.
#pragma once

#include <cstdint>

namespace fathometer::profile {

inline constexpr std::uint32_t VERSION = 2;
inline constexpr std::uint64_t COMMUNICATORS = 256, FILES = 128, SITES = 2048; // slots; the last one is for all others
inline constexpr std::uint64_t CALLS = 4096;  // of a thread: slots by function, size, communicator and call site
inline constexpr std::uint64_t WINDOWS = 512; // of time
inline constexpr std::uint64_t MOST_PEERS = 16384, FEWEST_PEERS = 64, MOST_BLOCKS = 64;

enum Option : std::uint32_t { BY_COMMUNICATOR = 1, BY_SITE = 2, WAIT = 4, COUNTERS = 8 };
enum State : std::int32_t { RUNNING = 1, FINALIZED = 2, ABORTED = 3, EXITED = 4 };
enum class Peer : std::uint64_t { Sent = 1, Put = 2, Got = 3 };

struct Instant {
    std::uint64_t ticks, nanoseconds;
};

// Of the process, since it began; counters since MPI_Init.
struct Usage {
    std::uint64_t nanoseconds, user_microseconds, system_microseconds, minor_faults, major_faults, resident_kilobytes;
    std::uint64_t voluntary_switches, involuntary_switches;
    std::uint64_t io_known, characters_read, characters_written, bytes_read, bytes_written;
    std::uint64_t counters[4]; // cycles, instructions, cache references, cache misses
};

struct Header {
    char magic[8];
    std::uint32_t version, checksum, functions, header_bytes;
    std::int32_t rank, size, pid, state, code, thread_level;
    std::uint32_t clock, options; // clock 0: the processor's time stamp counter; 1: nanoseconds of CLOCK_MONOTONIC
    std::uint32_t counter_error,
        newer_calls; // errno of perf_event_open; whether this MPI has functions not listened to
    std::uint64_t communicators_at, communicators, files_at, files, sites_at, sites;
    std::uint64_t blocks_at, block_bytes, blocks, calls_each, peers_each, windows_each;
    std::uint64_t begin_real_nanoseconds, init_begin, init_end, end, dropped;
    std::uint64_t sum; // of the file's words, once MPI_Finalize has ended; 0: none was made
    Instant first, last;
    Usage before, latest;
    char host[64], job[128], program[256], library[256];
};
inline constexpr std::uint64_t HEADER_BYTES = 4096;
static_assert(sizeof(Header) <= HEADER_BYTES);

struct CommunicatorSlot {
    std::int32_t size, me, between, window; // between: an inter-communicator
    std::uint64_t members;                  // a hash of their world ranks
    char name[104];
};

struct FileSlot {
    std::uint64_t opened, calls, ticks, bytes_read, bytes_written;
    char name[216];
};

struct SiteSlot {
    std::uint64_t address, offset;
    char module[136], symbol[360]; // names of C++ are long
};

struct CallSlot {
    std::uint64_t key; // 0: free; else see call_key
    std::uint64_t calls, ticks, longest, waiting, bytes_out, bytes_in, unused;
};

struct PeerSlot {
    std::uint64_t key; // 0: free; else (world rank + 2) * 4 + Peer; world rank -1: all others
    std::uint64_t messages, bytes, unused;
};

struct Window {
    std::uint64_t ticks, calls, messages, bytes;
};

struct Block {
    std::uint64_t current, since;      // number + 1 of the function that the thread is in, and when it began
    std::uint64_t main, calls_dropped; // main: the thread that called MPI_Init
    std::uint64_t shift, origin;       // a window is 2^shift ticks, the first begins at `origin`
    std::uint64_t shared, unused;
};

// 10 bits function, 7 bits size, 8 bits communicator, 12 bits site; 1 above them all, so that no key is 0.
inline std::uint64_t call_key(std::uint64_t function, std::uint64_t bin, std::uint64_t communicator,
                              std::uint64_t site) {
    return std::uint64_t{1} << 63 | site << 25 | communicator << 17 | bin << 10 | function;
}

} // namespace fathometer::profile
