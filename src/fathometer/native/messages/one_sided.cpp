// Protocols of one-sided messages: MPI_Put and MPI_Get, each with fences, with post-start-complete-wait, or with locks.
//
// A window lies where data arrive (put) or where they come from (get), in memory that MPI allocates for it.
// With locks the target takes no part in the transfer: an empty message tells it that data are there (put), or that
// they may be fetched (get); its time is part of the exchange.

#include "pair.hpp"

#include <cstring>

namespace fathometer::messages {

namespace {

class Window {
  public:
    Window(MPI_Comm comm, std::size_t size) {
        check(MPI_Win_allocate(static_cast<MPI_Aint>(size), 1, MPI_INFO_NULL, comm, &base_, &window_));
        check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN));
    }
    ~Window() { MPI_Win_free(&window_); }
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;

    unsigned char *base() { return base_; }
    MPI_Win handle() const { return window_; }

  private:
    unsigned char *base_ = nullptr;
    MPI_Win window_;
};

enum class Epoch { fence, pscw, lock };

class OneSided : public PairExchange {
  public:
    OneSided(MPI_Comm pair, const Case &wanted, bool puts, Epoch epoch)
        : PairExchange(pair, wanted), puts_(puts), epoch_(epoch), own_(area()), window_(pair, area()) {
        MPI_Group all;
        check(MPI_Comm_group(pair, &all));
        check(MPI_Group_incl(all, 1, &peer_, &partner_));
        check(MPI_Group_free(&all));
    }
    ~OneSided() override { MPI_Group_free(&partner_); }

    void prepare(std::uint64_t series) override {
        check(MPI_Barrier(pair_)); // the other rank may still be getting what is replaced here
        local([&] { PairExchange::prepare(series); });
        if (epoch_ == Epoch::fence)
            keep(MPI_Win_fence(MPI_MODE_NOPRECEDE, window_.handle()));
    }

    std::int64_t wrong() override {
        if (epoch_ == Epoch::fence)
            keep(MPI_Win_fence(MPI_MODE_NOSUCCEED, window_.handle()));
        std::int64_t count = 0;
        local([&] { count = PairExchange::wrong(); });
        return count;
    }

  protected:
    unsigned char *outgoing(int slot) override { return (puts_ ? own_.data() : window_.base()) + place(slot); }
    unsigned char *incoming(int slot) override { return (puts_ ? window_.base() : own_.data()) + place(slot); }

    void out(int slot) override { exchange(slot, true, false); }
    void in(int slot) override { exchange(slot, false, true); }
    void both(int slot) override { exchange(slot, true, true); }

  private:
    std::size_t place(int slot) const { return stride_ * static_cast<std::size_t>(slot); }

    // Access to the window's own memory beside the epochs of others.
    template <class Work> void local(Work work) {
        keep(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, window_.handle()));
        work();
        keep(MPI_Win_unlock(rank_, window_.handle()));
    }

    void exchange(int slot, bool gives, bool takes) {
        const bool moves = puts_ ? gives : takes;   // this rank calls MPI_Put or MPI_Get
        const bool exposes = puts_ ? takes : gives; // the other one does
        switch (epoch_) {
        case Epoch::fence:
            if (moves)
                move(slot);
            keep(MPI_Win_fence(0, window_.handle()));
            break;
        case Epoch::pscw:
            if (exposes)
                keep(MPI_Win_post(partner_, 0, window_.handle()));
            if (moves) {
                keep(MPI_Win_start(partner_, 0, window_.handle()));
                move(slot);
                keep(MPI_Win_complete(window_.handle()));
            }
            if (exposes)
                keep(MPI_Win_wait(window_.handle()));
            break;
        case Epoch::lock:
            if (!puts_)
                notify(gives, takes);
            if (moves) {
                keep(MPI_Win_lock(MPI_LOCK_SHARED, peer_, 0, window_.handle()));
                move(slot);
                keep(MPI_Win_unlock(peer_, window_.handle()));
            }
            if (puts_)
                notify(gives, takes);
            break;
        }
    }

    void notify(bool gives, bool takes) {
        keep(MPI_Sendrecv(nullptr, 0, MPI_BYTE, gives ? peer_ : MPI_PROC_NULL, notice_tag, nullptr, 0, MPI_BYTE,
                          takes ? peer_ : MPI_PROC_NULL, notice_tag, pair_, MPI_STATUS_IGNORE));
    }

    void move(int slot) {
        packets([&](std::size_t at, int size) {
            const auto there = static_cast<MPI_Aint>(place(slot) + at);
            if (puts_)
                keep(MPI_Put(own_.data() + there, size, MPI_BYTE, peer_, there, size, MPI_BYTE, window_.handle()));
            else
                keep(MPI_Get(own_.data() + there, size, MPI_BYTE, peer_, there, size, MPI_BYTE, window_.handle()));
        });
    }

    bool puts_;
    Epoch epoch_;
    Buffer own_;
    Window window_;
    MPI_Group partner_;
};

} // namespace

std::unique_ptr<Exchange> open_one_sided(MPI_Comm pair, const Case &wanted) {
    const std::string &name = wanted.protocol;
    for (const bool puts : {true, false}) {
        const std::string call = puts ? "put" : "get";
        if (name == call + "-fence")
            return std::make_unique<OneSided>(pair, wanted, puts, Epoch::fence);
        if (name == call + "-pscw")
            return std::make_unique<OneSided>(pair, wanted, puts, Epoch::pscw);
        if (name == call + "-lock")
            return std::make_unique<OneSided>(pair, wanted, puts, Epoch::lock);
    }
    return nullptr;
}

} // namespace fathometer::messages
