// Transposition of a square matrix of float64 of which each rank has some rows, as spectral codes do it: every rank has
// a block for every other one.
//
//     types      MPI_Alltoallw with derived types: MPI gathers rows of blocks and scatters columns
//     packed     blocks are copied into a buffer, MPI_Alltoall, and transposed out of it
//     pairwise   the same copies, a message to each rank and from each (MPI_Sendrecv in size - 1 steps)
//     alltoall   MPI_Alltoall of contiguous blocks alone, without copies: what the network gives

#include "buffer.hpp"
#include "exchange.hpp"

#include <algorithm>
#include <cmath>

namespace fathometer::messages {

namespace {

enum class Way { types, packed, pairwise, alltoall };

class Transpose : public Exchange {
  public:
    Transpose(MPI_Comm comm, const Case &wanted, Way way)
        : comm_(comm), way_(way), rank_(rank_of(comm)), size_(size_of(comm)), side_(side_of(wanted.length)),
          seed_(wanted.seed), from_(bytes()), to_(bytes()),
          out_(way == Way::types || way == Way::alltoall ? 1 : bytes()), in_(out_.size()) {
        if (way != Way::types)
            return;
        const int row = side_ * size_;
        const int sizes[] = {side_, row}, shape[] = {side_, side_};
        const auto width = static_cast<MPI_Aint>(sizeof(double));
        for (int other = 0; other < size_; ++other) {
            const int first[] = {0, other * side_};
            check(MPI_Type_create_subarray(2, sizes, shape, first, MPI_ORDER_C, MPI_DOUBLE, &sent_.emplace_back()));
            check(MPI_Type_commit(&sent_.back()));
            // What arrives in rows is stored in columns: a column, repeated one number further.
            MPI_Datatype column, columns;
            check(MPI_Type_create_hvector(side_, 1, width * row, MPI_DOUBLE, &column));
            check(MPI_Type_create_hvector(side_, 1, width, column, &columns));
            check(MPI_Type_commit(&columns));
            check(MPI_Type_free(&column));
            received_.push_back(columns);
            places_.push_back(static_cast<int>(width) * other * side_);
        }
        none_.assign(static_cast<std::size_t>(size_), 0);
        ones_.assign(static_cast<std::size_t>(size_), 1);
    }
    ~Transpose() override {
        for (std::vector<MPI_Datatype> *types : {&sent_, &received_})
            for (MPI_Datatype &type : *types)
                MPI_Type_free(&type);
    }

    static int side_of(std::int64_t length) {
        return std::max(1, static_cast<int>(std::lround(std::sqrt(static_cast<double>(length) / sizeof(double)))));
    }

    void prepare(std::uint64_t series) override {
        series_ = series;
        block_walk(
            [&](int other, std::size_t i, std::size_t j) { *number(from_, i, other, j) = value(rank_, other, i, j); });
        poison(to_.data(), bytes());
    }

    void flush() override {
        messages::flush(from_.data(), bytes());
        messages::flush(to_.data(), bytes());
    }

    void once(int) override {
        const int block = side_ * side_;
        switch (way_) {
        case Way::types:
            keep(MPI_Alltoallw(from_.data(), ones_.data(), starts(), sent_.data(), to_.data(), ones_.data(),
                               places_.data(), received_.data(), comm_));
            break;
        case Way::alltoall:
            keep(MPI_Alltoall(from_.data(), block, MPI_DOUBLE, to_.data(), block, MPI_DOUBLE, comm_));
            break;
        case Way::packed:
            pack();
            keep(MPI_Alltoall(out_.data(), block, MPI_DOUBLE, in_.data(), block, MPI_DOUBLE, comm_));
            unpack();
            break;
        case Way::pairwise:
            pack();
            std::copy_n(packed(out_, rank_), block, packed(in_, rank_));
            for (int step = 1; step < size_; ++step) {
                const int to = (rank_ + step) % size_, from = (rank_ - step + size_) % size_;
                keep(MPI_Sendrecv(packed(out_, to), block, MPI_DOUBLE, to, 1, packed(in_, from), block, MPI_DOUBLE,
                                  from, 1, comm_, MPI_STATUS_IGNORE));
            }
            unpack();
            break;
        }
    }

    std::int64_t wrong() override {
        std::int64_t count = 0;
        block_walk([&](int other, std::size_t i, std::size_t j) {
            const double found = way_ == Way::alltoall ? packed(to_, other)[i * static_cast<std::size_t>(side_) + j]
                                                       : *number(to_, i, other, j);
            const double expected = way_ == Way::alltoall ? alltoall_value(other, i, j) : value(other, rank_, j, i);
            if (found != expected)
                count += static_cast<std::int64_t>(sizeof(double));
        });
        return count;
    }

    std::int64_t bytes_sent() const override {
        return static_cast<std::int64_t>(sizeof(double)) * side_ * side_ * (size_ - 1);
    }

  private:
    const int *starts() const { return none_.data(); }

    std::size_t bytes() const {
        return sizeof(double) * static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_) *
               static_cast<std::size_t>(size_);
    }

    // Row i, column j of the block for, or from, another rank.
    double *number(Buffer &matrix, std::size_t i, int other, std::size_t j) {
        const auto side = static_cast<std::size_t>(side_);
        return reinterpret_cast<double *>(matrix.data()) +
               (i * static_cast<std::size_t>(size_) + static_cast<std::size_t>(other)) * side + j;
    }

    double *packed(Buffer &blocks, int other) {
        return reinterpret_cast<double *>(blocks.data()) +
               static_cast<std::size_t>(other) * static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_);
    }

    void pack() {
        const auto side = static_cast<std::size_t>(side_);
        for (int other = 0; other < size_; ++other)
            for (std::size_t i = 0; i < side; ++i)
                std::copy_n(number(from_, i, other, 0), side, packed(out_, other) + i * side);
    }

    void unpack() {
        const auto side = static_cast<std::size_t>(side_);
        for (int other = 0; other < size_; ++other)
            for (std::size_t i = 0; i < side; ++i)
                for (std::size_t j = 0; j < side; ++j)
                    *number(to_, i, other, j) = packed(in_, other)[j * side + i];
    }

    template <class Each> void block_walk(Each each) const {
        const auto side = static_cast<std::size_t>(side_);
        for (std::size_t i = 0; i < side; ++i)
            for (int other = 0; other < size_; ++other)
                for (std::size_t j = 0; j < side; ++j)
                    each(other, i, j);
    }

    // A whole number of 52 bits: exact as float64, and not NaN.
    double value(int from, int to, std::size_t i, std::size_t j) const {
        const std::uint64_t pair =
            static_cast<std::uint64_t>(from) * static_cast<std::uint64_t>(size_) + static_cast<std::uint64_t>(to);
        const std::uint64_t cell = (static_cast<std::uint64_t>(i) << 32) | j;
        return static_cast<double>(key_of(seed_, series_, pair, cell) >> 12);
    }

    // Without copies what goes to a rank is a contiguous piece of the matrix, whatever rows it holds.
    double alltoall_value(int other, std::size_t i, std::size_t j) const {
        const auto side = static_cast<std::size_t>(side_), ranks = static_cast<std::size_t>(size_);
        const std::size_t at = static_cast<std::size_t>(rank_) * side * side + i * side + j;
        const std::size_t row = at / (ranks * side), column = at % (ranks * side);
        return value(other, static_cast<int>(column / side), row, column % side);
    }

    MPI_Comm comm_;
    Way way_;
    int rank_, size_, side_;
    std::uint64_t seed_, series_ = 0;
    Buffer from_, to_, out_, in_;
    std::vector<MPI_Datatype> sent_, received_;
    std::vector<int> places_, ones_, none_;
};

} // namespace

std::unique_ptr<Exchange> open_transpose(MPI_Comm comm, const Case &wanted) {
    for (const auto &[name, way] : {std::pair{"types", Way::types}, std::pair{"packed", Way::packed},
                                    std::pair{"pairwise", Way::pairwise}, std::pair{"alltoall", Way::alltoall}})
        if (wanted.protocol == name)
            return std::make_unique<Transpose>(comm, wanted, way);
    throw Unknown("protocol " + wanted.protocol);
}

} // namespace fathometer::messages
