// Messages through a window of shared memory (MPI_Win_allocate_shared): the sender copies into memory of the receiver
// and raises a number there; the receiver waits for it and says in the sender's memory that it has seen it.

#include "pair.hpp"

#include <atomic>
#include <cstring>
#include <new>

#include <sched.h>

namespace fathometer::messages {

namespace {

struct alignas(64) Counter {
    std::atomic<std::int64_t> value;
    static_assert(std::atomic<std::int64_t>::is_always_lock_free);
};

// At the head of each rank's part: messages that have arrived here, and own ones that the peer has seen.
struct Head {
    Counter arrived, seen;
};

class Shared : public PairExchange {
  public:
    Shared(MPI_Comm pair, const Case &wanted) : PairExchange(pair, wanted), own_(area()) {
        void *base = nullptr;
        const auto size = static_cast<MPI_Aint>(sizeof(Head) + area());
        check(MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, pair, &base, &window_));
        check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN));
        heads_[0] = new (base) Head{};
        MPI_Aint theirs = 0;
        int unit = 0;
        check(MPI_Win_shared_query(window_, peer_, &theirs, &unit, &base));
        heads_[1] = static_cast<Head *>(base);
        check(MPI_Barrier(pair)); // the other head is initialised
        check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_));
    }
    ~Shared() override {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }

  protected:
    unsigned char *outgoing(int slot) override { return own_.data() + place(slot); }
    unsigned char *incoming(int slot) override { return part(heads_[0]) + place(slot); }

    void out(int slot) override { give(slot); }
    void in(int) override { take(); }
    void both(int slot) override {
        give(slot);
        take();
    }

  private:
    std::size_t place(int slot) const { return stride_ * static_cast<std::size_t>(slot); }

    static unsigned char *part(Head *head) { return reinterpret_cast<unsigned char *>(head + 1); }

    static void wait_for(const Counter &counter, std::int64_t value) {
        for (int spins = 0; counter.value.load(std::memory_order_acquire) < value;)
            if (++spins % 4096 == 0)
                sched_yield(); // where ranks share a core
    }

    void give(int slot) {
        wait_for(heads_[0]->seen, given_); // the message before may still be read
        packets([&](std::size_t at, int size) {
            std::memcpy(part(heads_[1]) + place(slot) + at, outgoing(slot) + at, static_cast<std::size_t>(size));
        });
        heads_[1]->arrived.value.store(++given_, std::memory_order_release);
    }

    void take() {
        wait_for(heads_[0]->arrived, ++taken_);
        heads_[1]->seen.value.store(taken_, std::memory_order_release);
    }

    Buffer own_;
    MPI_Win window_;
    Head *heads_[2]; // mine, the peer's
    std::int64_t given_ = 0, taken_ = 0;
};

} // namespace

std::unique_ptr<Exchange> open_shared(MPI_Comm pair, const Case &wanted) {
    if (wanted.protocol != "shared-window")
        return nullptr;
    return std::make_unique<Shared>(pair, wanted);
}

} // namespace fathometer::messages
