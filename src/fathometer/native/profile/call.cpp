// Counting: nothing here takes a lock or memory, and no call of the system but once in a window of time.

#include "state.hpp"

#include <algorithm>

namespace fathometer::profile {

namespace {

constexpr int MOST_PROBES = 64;

std::uint64_t scattered(std::uint64_t key) {
    key *= 0x9e3779b97f4a7c15u; // 2^64 over the golden ratio (Knuth, The Art of Computer Programming 3, 6.4)
    return key ^ key >> 32;
}

// The slot of a key in a table of 2^n slots; null where there is no room near its place.
template <class Slot> Slot *slot(Slot *table, std::uint64_t capacity, std::uint64_t key) {
    std::uint64_t at = scattered(key);
    for (int probe = 0; probe < MOST_PROBES; ++probe, ++at) {
        Slot &found = table[at & (capacity - 1)];
        if (found.key == key) [[likely]]
            return &found;
        if (found.key == 0) {
            found.key = key;
            return &found;
        }
    }
    return nullptr;
}

// Windows twice as long: pairs become one.
void fold(Block &block, Window *windows) {
    for (std::uint64_t n = 0; n < WINDOWS; ++n) {
        const Window pair[2] = {2 * n < WINDOWS ? windows[2 * n] : Window{},
                                2 * n + 1 < WINDOWS ? windows[2 * n + 1] : Window{}};
        windows[n] = {pair[0].ticks + pair[1].ticks, pair[0].calls + pair[1].calls, pair[0].messages + pair[1].messages,
                      pair[0].bytes + pair[1].bytes};
    }
    ++block.shift;
}

Window &window(Block &block, Window *windows, std::uint64_t time) {
    std::uint64_t passed = time > block.origin ? time - block.origin : 0;
    while (passed >> block.shift >= WINDOWS)
        fold(block, windows);
    return windows[passed >> block.shift];
}

} // namespace

void Call::count_in_windows(std::uint64_t begin, std::uint64_t end) {
    Block &block = *thread_.block;
    Window &last = window(block, thread_.windows, end); // folds, so that the others have a place
    if (end <= block.origin)                            // MPI_Init
        return;
    begin = std::max(begin, block.origin);
    const std::uint64_t width = std::uint64_t{1} << block.shift;
    const std::uint64_t last_begin = block.origin + ((end - block.origin) & ~(width - 1));
    if (begin >= last_begin) [[likely]] {
        last.ticks += end - begin;
        return;
    }
    for (std::uint64_t from = begin; from < end;) {
        const std::uint64_t until = std::min(end, block.origin + ((from - block.origin) & ~(width - 1)) + width);
        window(block, thread_.windows, from).ticks += until - from;
        from = until;
    }
}

void Call::count(std::uint64_t out, std::uint64_t in) {
    Block *const block = thread_.block;
    if (block == nullptr)
        return;
    out += more_out;
    in += more_in;
    const std::uint64_t size = out != 0 ? out : in;
    const auto bin = static_cast<std::uint64_t>(std::bit_width(size)); // 0: no byte; else 1 + log2, rounded down
    const auto function = static_cast<std::uint64_t>(function_);
    const auto index = by_communicator ? static_cast<std::uint64_t>(communicator->index) : 0;
    CallSlot *entry = slot(thread_.calls, CALLS, call_key(function, bin, index, site_));
    if (entry == nullptr) // as one of all others
        entry = slot(thread_.calls, CALLS,
                     call_key(function, bin, by_communicator ? COMMUNICATORS - 1 : 0, by_site ? SITES - 1 : 0));
    const std::uint64_t spent = end_ - begin_ + waited_;
    if (entry != nullptr) [[likely]] {
        ++entry->calls;
        entry->ticks += spent;
        entry->longest = std::max(entry->longest, spent);
        entry->waiting += waited_;
        entry->bytes_out += out;
        entry->bytes_in += in;
    } else {
        ++block->calls_dropped;
    }
    if (file != NO_FILE) {
        std::atomic_ref(file->calls).fetch_add(1, std::memory_order_relaxed);
        std::atomic_ref(file->ticks).fetch_add(spent, std::memory_order_relaxed);
        std::atomic_ref(file->bytes_read).fetch_add(in, std::memory_order_relaxed);
        std::atomic_ref(file->bytes_written).fetch_add(out, std::memory_order_relaxed);
    }
    if (waited_ != 0)
        count_in_windows(waited_since_, waited_since_ + waited_);
    count_in_windows(begin_, end_);
    Window &now = window(*block, thread_.windows, end_);
    if (++now.calls == 1)
        take_snapshot(*block);
}

void Call::message(Peer kind, int peer, std::uint64_t bytes) {
    Block *const block = thread_.block;
    if (block == nullptr || peer < 0) // MPI_PROC_NULL: no message
        return;
    std::int64_t rank = peer;
    if (!communicator->same)
        rank = communicator->world != nullptr && peer < communicator->size ? communicator->world[peer] : -1;
    if (rank < 0)
        rank = -1;
    const auto key = [&](std::int64_t of) {
        return static_cast<std::uint64_t>(of + 2) * 4 + static_cast<std::uint64_t>(kind);
    };
    PeerSlot *entry = slot(thread_.peers, header->peers_each, key(rank));
    if (entry == nullptr)
        entry = slot(thread_.peers, header->peers_each, key(-1));
    if (entry != nullptr) [[likely]] {
        ++entry->messages;
        entry->bytes += bytes;
    } else {
        ++block->calls_dropped;
    }
    Window &now = window(*block, thread_.windows, end_ != 0 ? end_ : ticks());
    ++now.messages;
    now.bytes += bytes;
}

} // namespace fathometer::profile
