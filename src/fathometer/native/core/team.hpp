// Kernels are run by threads that meet: all of them at barriers of OpenMP, those that share a tile at a barrier of
// their own, and those in neighbouring tiles by telling how far they are.
#pragma once

#include <atomic>
#include <cstdint>

#include <sched.h>

#include "denormals.hpp"

namespace fathometer {

// Calls work() in every thread of a new team.
template <class Work> void in_team(Work work) {
#pragma omp parallel
    {
        FlushDenormals guard;
        work();
    }
}

// Waits for ready(): shortly on the spot, then giving the processor away, which another thread may need.
template <class Ready> void wait_until(Ready ready) {
    for (int turns = 0; !ready(); ++turns) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (turns > 4000)
            sched_yield();
    }
}

// A count that one thread raises and others wait for, on a cache line of its own.
struct alignas(128) Progress {
    std::atomic<std::int64_t> count{0};

    bool has_reached(std::int64_t wanted) const { return count.load(std::memory_order_acquire) >= wanted; }
    void wait_for(std::int64_t wanted) const {
        wait_until([&] { return has_reached(wanted); });
    }
    void reach(std::int64_t now) { count.store(now, std::memory_order_release); }
};

// A barrier of some of a team's threads.
class alignas(128) Barrier {
  public:
    void wait(std::int64_t members) {
        if (members == 1)
            return;
        const std::int64_t turn = generation.load(std::memory_order_acquire);
        if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
            arrived.store(0, std::memory_order_relaxed);
            generation.store(turn + 1, std::memory_order_release);
        } else {
            wait_until([&] { return generation.load(std::memory_order_acquire) != turn; });
        }
    }

  private:
    std::atomic<std::int64_t> arrived{0};
    alignas(64) std::atomic<std::int64_t> generation{0};
};

} // namespace fathometer
