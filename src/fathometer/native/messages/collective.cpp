// Barrier, broadcast, and sums over all ranks.

#include "buffer.hpp"
#include "exchange.hpp"

namespace fathometer::messages {

namespace {

class Barrier : public Exchange {
  public:
    explicit Barrier(MPI_Comm comm) : comm_(comm) {}

    void prepare(std::uint64_t) override {}
    void once(int) override { keep(MPI_Barrier(comm_)); }
    std::int64_t wrong() override { return 0; }
    std::int64_t bytes_sent() const override { return 0; }

  private:
    MPI_Comm comm_;
};

// From rank 0.
class Broadcast : public Exchange {
  public:
    Broadcast(MPI_Comm comm, const Case &wanted)
        : comm_(comm), rank_(rank_of(comm)), length_(static_cast<std::size_t>(wanted.length)), seed_(wanted.seed),
          buffer_(length_) {}

    void prepare(std::uint64_t series) override {
        series_ = series;
        if (rank_ == 0)
            fill(buffer_.data(), length_, key_of(seed_, series, 0, 0));
        else
            poison(buffer_.data(), length_);
    }
    void flush() override { messages::flush(buffer_.data(), length_); }
    void once(int) override { keep(MPI_Bcast(buffer_.data(), static_cast<int>(length_), MPI_BYTE, 0, comm_)); }
    std::int64_t wrong() override { return differing(buffer_.data(), length_, key_of(seed_, series_, 0, 0)); }
    std::int64_t bytes_sent() const override { return rank_ == 0 ? static_cast<std::int64_t>(length_) : 0; }

  private:
    MPI_Comm comm_;
    int rank_;
    std::size_t length_;
    std::uint64_t seed_, series_ = 0;
    Buffer buffer_;
};

// The sum of float64 over all ranks. The numbers are whole and small, so that the sum is exact in any order.
class Allreduce : public Exchange {
  public:
    Allreduce(MPI_Comm comm, const Case &wanted)
        : comm_(comm), rank_(rank_of(comm)), size_(size_of(comm)), seed_(wanted.seed),
          values_(static_cast<std::size_t>(wanted.length) / sizeof(double)), sums_(values_.size()) {}

    void prepare(std::uint64_t series) override {
        series_ = series;
        for (std::size_t n = 0; n < values_.size(); ++n) {
            values_[n] = value(rank_, n);
            sums_[n] = -1.0;
        }
    }
    void flush() override {
        messages::flush(reinterpret_cast<const unsigned char *>(values_.data()), bytes());
        messages::flush(reinterpret_cast<const unsigned char *>(sums_.data()), bytes());
    }
    void once(int) override {
        keep(MPI_Allreduce(values_.data(), sums_.data(), static_cast<int>(values_.size()), MPI_DOUBLE, MPI_SUM, comm_));
    }
    std::int64_t wrong() override {
        std::int64_t count = 0;
        for (std::size_t n = 0; n < sums_.size(); ++n) {
            double expected = 0.0;
            for (int rank = 0; rank < size_; ++rank)
                expected += value(rank, n);
            if (sums_[n] != expected)
                count += static_cast<std::int64_t>(sizeof(double));
        }
        return count;
    }
    std::int64_t bytes_sent() const override { return static_cast<std::int64_t>(bytes()); }

  private:
    std::size_t bytes() const { return values_.size() * sizeof(double); }
    double value(int rank, std::size_t n) const {
        return static_cast<double>(key_of(seed_, series_, static_cast<std::uint64_t>(rank), n) >> 40);
    }

    MPI_Comm comm_;
    int rank_, size_;
    std::uint64_t seed_, series_ = 0;
    std::vector<double> values_, sums_;
};

} // namespace

std::unique_ptr<Exchange> open_collective(MPI_Comm comm, const Case &wanted) {
    if (wanted.pattern == "barrier")
        return std::make_unique<Barrier>(comm);
    if (wanted.pattern == "bcast")
        return std::make_unique<Broadcast>(comm, wanted);
    if (wanted.pattern == "allreduce")
        return std::make_unique<Allreduce>(comm, wanted);
    throw Unknown("pattern " + wanted.pattern);
}

} // namespace fathometer::messages
