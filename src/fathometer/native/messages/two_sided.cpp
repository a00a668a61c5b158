// Protocols of two-sided messages.

#include "pair.hpp"

namespace fathometer::messages {

namespace {

class TwoSided : public PairExchange {
  public:
    TwoSided(MPI_Comm pair, const Case &wanted)
        : PairExchange(pair, wanted), out_(area()), in_(area()),
          requests_(2 * static_cast<std::size_t>(packet_count())) {}

  protected:
    unsigned char *outgoing(int slot) override { return out_.data() + stride_ * static_cast<std::size_t>(slot); }
    unsigned char *incoming(int slot) override {
        return (direction_ == Direction::echo ? out_ : in_).data() + stride_ * static_cast<std::size_t>(slot);
    }

    void receive_all(int slot) {
        packets([&](std::size_t at, int size) {
            keep(MPI_Recv(incoming(slot) + at, size, MPI_BYTE, peer_, tag, pair_, MPI_STATUS_IGNORE));
        });
    }

    void post_receives(int slot) {
        packets([&](std::size_t at, int size) {
            keep(MPI_Irecv(incoming(slot) + at, size, MPI_BYTE, peer_, tag, pair_, &requests_[posted_++]));
        });
    }

    void post_sends(int slot) {
        packets([&](std::size_t at, int size) {
            keep(MPI_Isend(outgoing(slot) + at, size, MPI_BYTE, peer_, tag, pair_, &requests_[posted_++]));
        });
    }

    void wait_all() {
        keep(MPI_Waitall(static_cast<int>(posted_), requests_.data(), MPI_STATUSES_IGNORE));
        posted_ = 0;
    }

    Buffer out_, in_;
    std::vector<MPI_Request> requests_;
    std::size_t posted_ = 0;
};

using Send = int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm);

// A blocking send of some mode. Both ways: the receive is posted first, so that neither waits for the other's send.
class Blocking : public TwoSided {
  public:
    Blocking(MPI_Comm pair, const Case &wanted, Send send) : TwoSided(pair, wanted), send_(send) {}

  protected:
    void out(int slot) override {
        packets([&](std::size_t at, int size) { keep(send_(outgoing(slot) + at, size, MPI_BYTE, peer_, tag, pair_)); });
    }
    void in(int slot) override { receive_all(slot); }
    void both(int slot) override {
        post_receives(slot);
        out(slot);
        wait_all();
    }

  private:
    Send send_;
};

// Buffered sends. The process's buffer has room for some messages; when it may be full it is detached, which waits
// until they have left, and attached again: a part of the time, as programs have it.
class Buffered : public Blocking {
  public:
    Buffered(MPI_Comm pair, const Case &wanted)
        : Blocking(pair, wanted, MPI_Bsend), room_(room(each())), copies_(static_cast<std::size_t>(room_) * each()) {}
    ~Buffered() override { detach(); }

    void prepare(std::uint64_t series) override {
        detach();
        Blocking::prepare(series);
        attach();
    }

  protected:
    void out(int slot) override {
        if (++sent_ > room_) {
            detach();
            attach();
            sent_ = 1;
        }
        Blocking::out(slot);
    }

  private:
    std::size_t each() const { return length_ + static_cast<std::size_t>(packet_count()) * (MPI_BSEND_OVERHEAD + 64); }

    static int room(std::size_t each) {
        constexpr std::size_t most = 1u << 23;
        return static_cast<int>(std::clamp<std::size_t>(most / each, 1, 64));
    }

    void attach() {
        check(MPI_Buffer_attach(copies_.data(), static_cast<int>(copies_.size())));
        attached_ = true;
        sent_ = 0;
    }

    void detach() {
        void *buffer = nullptr;
        int size = 0;
        if (attached_)
            keep(MPI_Buffer_detach(&buffer, &size));
        attached_ = false;
    }

    int room_;
    Buffer copies_;
    bool attached_ = false;
    int sent_ = 0;
};

// Ready sends: an empty message of the receiver says that its receives are posted; its time is part of the exchange.
class Ready : public TwoSided {
  public:
    using TwoSided::TwoSided;

  protected:
    void out(int slot) override {
        keep(MPI_Recv(nullptr, 0, MPI_BYTE, peer_, notice_tag, pair_, MPI_STATUS_IGNORE));
        send_ready(slot);
    }
    void in(int slot) override {
        post_receives(slot);
        keep(MPI_Send(nullptr, 0, MPI_BYTE, peer_, notice_tag, pair_));
        wait_all();
    }
    void both(int slot) override {
        post_receives(slot);
        keep(MPI_Sendrecv(nullptr, 0, MPI_BYTE, peer_, notice_tag, nullptr, 0, MPI_BYTE, peer_, notice_tag, pair_,
                          MPI_STATUS_IGNORE));
        send_ready(slot);
        wait_all();
    }

  private:
    void send_ready(int slot) {
        packets(
            [&](std::size_t at, int size) { keep(MPI_Rsend(outgoing(slot) + at, size, MPI_BYTE, peer_, tag, pair_)); });
    }
};

class Sendrecv : public TwoSided {
  public:
    using TwoSided::TwoSided;

  protected:
    void out(int slot) override { exchange(slot, peer_, MPI_PROC_NULL); }
    void in(int slot) override { exchange(slot, MPI_PROC_NULL, peer_); }
    void both(int slot) override { exchange(slot, peer_, peer_); }

  private:
    void exchange(int slot, int to, int from) {
        packets([&](std::size_t at, int size) {
            keep(MPI_Sendrecv(outgoing(slot) + at, size, MPI_BYTE, to, tag, incoming(slot) + at, size, MPI_BYTE, from,
                              tag, pair_, MPI_STATUS_IGNORE));
        });
    }
};

class NonBlocking : public TwoSided {
  public:
    NonBlocking(MPI_Comm pair, const Case &wanted, bool receives_first)
        : TwoSided(pair, wanted), receives_first_(receives_first) {}

  protected:
    void out(int slot) override {
        post_sends(slot);
        wait_all();
    }
    void in(int slot) override {
        post_receives(slot);
        wait_all();
    }
    void both(int slot) override {
        if (receives_first_)
            post_receives(slot);
        post_sends(slot);
        if (!receives_first_)
            post_receives(slot);
        wait_all();
    }

  private:
    bool receives_first_;
};

class Persistent : public TwoSided {
  public:
    Persistent(MPI_Comm pair, const Case &wanted) : TwoSided(pair, wanted) {
        for (int slot = 0; slot < slots_; ++slot) {
            if (receives())
                packets([&](std::size_t at, int size) {
                    MPI_Request request;
                    check(MPI_Recv_init(incoming(slot) + at, size, MPI_BYTE, peer_, tag, pair_, &request));
                    kept_.push_back(request);
                });
            if (sends())
                packets([&](std::size_t at, int size) {
                    MPI_Request request;
                    check(MPI_Send_init(outgoing(slot) + at, size, MPI_BYTE, peer_, tag, pair_, &request));
                    kept_.push_back(request);
                });
        }
    }
    ~Persistent() override {
        for (MPI_Request &request : kept_)
            MPI_Request_free(&request);
    }

  protected:
    void out(int slot) override { run(slot, receives() ? packet_count() : 0, packet_count()); }
    void in(int slot) override { run(slot, 0, packet_count()); }
    void both(int slot) override { run(slot, 0, 2 * packet_count()); }

  private:
    void run(int slot, int first, int count) {
        const int each = packet_count() * (static_cast<int>(sends()) + static_cast<int>(receives()));
        MPI_Request *requests = kept_.data() + static_cast<std::size_t>(slot) * static_cast<std::size_t>(each) + first;
        keep(MPI_Startall(count, requests));
        keep(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    }

    std::vector<MPI_Request> kept_; // of each slot: receives, then sends
};

} // namespace

std::unique_ptr<Exchange> open_two_sided(MPI_Comm pair, const Case &wanted) {
    const std::string &name = wanted.protocol;
    if (name == "send")
        return std::make_unique<Blocking>(pair, wanted, MPI_Send);
    if (name == "ssend")
        return std::make_unique<Blocking>(pair, wanted, MPI_Ssend);
    if (name == "bsend")
        return std::make_unique<Buffered>(pair, wanted);
    if (name == "rsend")
        return std::make_unique<Ready>(pair, wanted);
    if (name == "sendrecv")
        return std::make_unique<Sendrecv>(pair, wanted);
    if (name == "isend-irecv" || name == "irecv-isend")
        return std::make_unique<NonBlocking>(pair, wanted, name == "irecv-isend");
    if (name == "persistent")
        return std::make_unique<Persistent>(pair, wanted);
    return nullptr;
}

} // namespace fathometer::messages
