// A rank's file while it is written: blocks of threads, the call under way.
#pragma once

#include "clock.hpp"
#include "layout.hpp"

#include <atomic>
#include <bit>
#include <cstdint>

namespace fathometer::profile {

// A communicator, or the group of a window.
struct Communicator {
    int index = COMMUNICATORS - 1; // of its slot
    int me = 0, size = 0;
    std::uint64_t others = 0;   // processes of collective calls at the other end: of the remote group between groups
    std::uint64_t own_side = 0; // processes of the own group
    bool between = false, same = false;  // same: ranks are those of the world
    const int *world = nullptr;          // world ranks of those that messages go to
    int degree_in = -1, degree_out = -1; // of its topology, once asked for
};

struct Thread {
    bool inside = false; // a call of MPI, whose own calls are not the program's
    Block *block = nullptr;
    CallSlot *calls = nullptr;
    PeerSlot *peers = nullptr;
    Window *windows = nullptr;
    std::uint64_t handle = 0, epoch = 0; // the communicator of the last call
    Communicator *communicator = nullptr;
    struct {
        void *address;
        std::uint32_t site;
    } sites[64] = {};
};

extern bool running; // from MPI_Init on
extern bool by_communicator, by_site, waiting;
extern Header *header;
extern std::atomic<std::uint64_t> epoch; // changed whenever a handle is freed
extern Communicator nobody;              // of calls without communicator

Thread &this_thread();

// Create the rank's file. False, with a line on standard error, where there can be none.
bool create_file(int rank, int size, const char *library, std::uint32_t checksum, bool newer_calls);
void create_block(Thread &thread);
void end_file(State state, int code);
void seal_file(); // after MPI_Finalize: nothing more is counted, and the file gets its sum
void take_snapshot(Block &block);

// Slots in the file.
int communicator_slot(const Communicator &communicator, const char *name, std::uint64_t members, bool window);
void name_slot(int index, const char *name);
FileSlot *file_slot(const char *name);
std::uint32_t site_of(Thread &thread, void *address);

inline FileSlot *const NO_FILE = nullptr;

// A call of the program: from its construction on, calls of MPI are ours. Made in every wrapper.
class Call {
  public:
    Communicator *communicator = &nobody;
    FileSlot *file = NO_FILE;
    std::uint64_t more_out = 0, more_in = 0; // of requests that it starts

    Call(Thread &thread, int function, void *address) : thread_(thread), function_(function) {
        thread.inside = true;
        if (thread.block == nullptr && running) [[unlikely]]
            create_block(thread);
        if (by_site)
            site_ = site_of(thread, address);
    }
    ~Call() { thread_.inside = false; }
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

    void start() {
        begin_ = ticks();
        if (thread_.block != nullptr) {
            thread_.block->since = begin_;
            thread_.block->current = static_cast<std::uint64_t>(function_) + 1;
        }
    }
    void stop() {
        end_ = ticks();
        if (thread_.block != nullptr)
            thread_.block->current = 0;
    }
    void waited(std::uint64_t begin, std::uint64_t end) {
        waited_ = end - begin;
        waited_since_ = begin;
    }
    std::uint64_t began() const { return begin_; }
    std::uint64_t ended() const { return end_; }

    // The call with the bytes that it handed over and took in.
    void count(std::uint64_t out, std::uint64_t in);

    // A message, to or from the rank `peer` of its communicator.
    void message(Peer kind, int peer, std::uint64_t bytes);

  private:
    void count_in_windows(std::uint64_t begin, std::uint64_t end);

    Thread &thread_;
    int function_;
    std::uint32_t site_ = 0;
    std::uint64_t begin_ = 0, end_ = 0, waited_ = 0, waited_since_ = 0;
};

} // namespace fathometer::profile
