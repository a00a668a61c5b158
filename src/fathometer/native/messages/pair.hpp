// Messages between two ranks, whatever the protocol.
#pragma once

#include "buffer.hpp"
#include "exchange.hpp"

#include <algorithm>

namespace fathometer::messages {

constexpr int tag = 1, notice_tag = 2;

// Messages between two ranks, each in packets. A protocol says how a message goes out, how it comes in, and how both
// happen at the same time; the direction says which of them an exchange is:
//
//     both       both ranks at the same time
//     one        rank 0 sends, rank 1 receives; an empty message back ends the series
//     pingpong   rank 0 sends, rank 1 sends back what is its own
//     echo       rank 0 sends, rank 1 sends back what has come, from the buffer in which it came
class PairExchange : public Exchange {
  public:
    PairExchange(MPI_Comm pair, const Case &wanted)
        : pair_(pair), rank_(rank_of(pair)), peer_(1 - rank_), length_(static_cast<std::size_t>(wanted.length)),
          packet_(static_cast<std::size_t>(wanted.packet)), slots_(wanted.slots), seed_(wanted.seed),
          stride_((length_ / 64 + 1) * 64 + (wanted.slots > 1 ? 4096 : 0)) {
        if (wanted.direction == "both")
            direction_ = Direction::both;
        else if (wanted.direction == "one")
            direction_ = Direction::one;
        else if (wanted.direction == "pingpong")
            direction_ = Direction::pingpong;
        else if (wanted.direction == "echo")
            direction_ = Direction::echo;
        else
            throw Unknown("direction " + wanted.direction);
        if (size_of(pair) != 2)
            throw Unknown("a pair of " + std::to_string(size_of(pair)) + " ranks");
    }

    void prepare(std::uint64_t series) override {
        series_ = series;
        for (int slot = 0; slot < slots_; ++slot) {
            if (direction_ != Direction::echo || rank_ == 0)
                fill(outgoing(slot), length_, key_of(seed_, series, rank_, slot));
            if (direction_ != Direction::echo || rank_ == 1)
                poison(incoming(slot), length_);
        }
        used_ = 0;
    }

    void flush() override {
        for (int slot = 0; slot < slots_; ++slot) {
            messages::flush(outgoing(slot), length_);
            messages::flush(incoming(slot), length_);
        }
    }

    void once(int slot) final {
        used_ = std::max(used_, slot + 1);
        if (direction_ == Direction::both) {
            both(slot);
        } else if (rank_ == 0) {
            out(slot);
            if (direction_ != Direction::one)
                in(slot);
        } else {
            in(slot);
            if (direction_ != Direction::one)
                out(slot);
        }
    }

    void finish() final {
        if (direction_ != Direction::one)
            return;
        if (rank_ == 0)
            keep(MPI_Recv(nullptr, 0, MPI_BYTE, peer_, notice_tag, pair_, MPI_STATUS_IGNORE));
        else
            keep(MPI_Send(nullptr, 0, MPI_BYTE, peer_, notice_tag, pair_));
    }

    std::int64_t wrong() override {
        if (direction_ == Direction::one && rank_ == 0)
            return 0;
        const int sender = direction_ == Direction::echo ? 0 : peer_;
        std::int64_t count = 0;
        for (int slot = 0; slot < used_; ++slot)
            count += differing(incoming(slot), length_, key_of(seed_, series_, sender, slot));
        return count;
    }

    std::int64_t bytes_sent() const override {
        return direction_ == Direction::one && rank_ == 1 ? 0 : static_cast<std::int64_t>(length_);
    }

  protected:
    virtual void out(int slot) = 0;
    virtual void in(int slot) = 0;
    virtual void both(int slot) = 0;
    virtual unsigned char *outgoing(int slot) = 0;
    virtual unsigned char *incoming(int slot) = 0;

    bool sends() const { return direction_ != Direction::one || rank_ == 0; }
    bool receives() const { return direction_ != Direction::one || rank_ == 1; }

    // Calls `each` with the place and size of every packet of a message; an empty message is one packet.
    template <class Each> void packets(Each each) const {
        std::size_t at = 0;
        do {
            const std::size_t size = std::min(packet_, length_ - at);
            each(at, static_cast<int>(size));
            at += size;
        } while (at < length_);
    }

    int packet_count() const { return length_ ? static_cast<int>((length_ + packet_ - 1) / packet_) : 1; }

    std::size_t area() const { return stride_ * static_cast<std::size_t>(slots_); }

    enum class Direction { both, one, pingpong, echo };

    MPI_Comm pair_;
    int rank_, peer_;
    std::size_t length_, packet_;
    int slots_;
    std::uint64_t seed_, series_ = 0;
    std::size_t stride_;
    Direction direction_;
    int used_ = 0;
};

} // namespace fathometer::messages
