// Exchange of the faces of a block of float64 with the neighbours in a grid of ranks, in two or three dimensions. Ranks
// at the sides of the grid have fewer neighbours. The face that lies across the fastest axis is single numbers far from
// each other, the one across the slowest is contiguous.
//
//     types        derived types (subarrays) of the block itself: MPI gathers and scatters
//     persistent   the same, as persistent requests
//     packed       faces are copied into and out of buffers of their own by plain loops

#include "buffer.hpp"
#include "exchange.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace fathometer::messages {

namespace {

constexpr int most_dimensions = 3;

// A plane of a block, one cell deep, without the halo's edges.
struct Face {
    std::vector<int> first, shape;
};

class Halo : public Exchange {
  public:
    Halo(MPI_Comm comm, const Case &wanted, int dimensions)
        : dimensions_(dimensions), cells_(cells_of(wanted.length, dimensions)), seed_(wanted.seed),
          typed_(wanted.protocol != "packed"), persistent_(wanted.protocol == "persistent"),
          block_(block_bytes(cells_, dimensions)) {
        std::array<int, most_dimensions> dims{}, periods{};
        check(MPI_Dims_create(size_of(comm), dimensions, dims.data()));
        check(MPI_Cart_create(comm, dimensions, dims.data(), periods.data(), 0, &grid_));
        rank_ = rank_of(grid_);
        for (int axis = 0; axis < dimensions; ++axis) {
            int below = 0, above = 0;
            check(MPI_Cart_shift(grid_, axis, 1, &below, &above));
            for (const int side : {0, 1})
                if (const int neighbour = side ? above : below; neighbour != MPI_PROC_NULL)
                    neighbours_.push_back(
                        {neighbour, 2 * axis + side, face(axis, side, false), face(axis, side, true)});
        }
        const std::size_t numbers = face_numbers();
        for (Neighbour &one : neighbours_) {
            if (typed_) {
                one.sent = type_of(one.owned);
                one.received = type_of(one.halo);
            } else {
                one.outgoing.resize(numbers);
                one.incoming.resize(numbers);
            }
        }
        requests_.resize(2 * neighbours_.size(), MPI_REQUEST_NULL);
        if (persistent_)
            for (std::size_t n = 0; n < neighbours_.size(); ++n) {
                Neighbour &one = neighbours_[n];
                check(MPI_Recv_init(values(), 1, one.received, one.rank, one.side ^ 1, grid_, &requests_[n]));
                check(MPI_Send_init(values(), 1, one.sent, one.rank, one.side, grid_,
                                    &requests_[neighbours_.size() + n]));
            }
    }
    ~Halo() override {
        if (persistent_)
            for (MPI_Request &request : requests_)
                MPI_Request_free(&request);
        if (typed_)
            for (Neighbour &one : neighbours_) {
                MPI_Type_free(&one.sent);
                MPI_Type_free(&one.received);
            }
        MPI_Comm_free(&grid_);
    }

    static int cells_of(std::int64_t length, int dimensions) {
        const double numbers = static_cast<double>(length) / sizeof(double);
        return std::max(1, static_cast<int>(std::lround(dimensions == 2 ? numbers : std::sqrt(numbers))));
    }
    static std::size_t block_bytes(int cells, int dimensions) {
        std::size_t bytes = sizeof(double);
        for (int axis = 0; axis < dimensions; ++axis)
            bytes *= static_cast<std::size_t>(cells) + 2;
        return bytes;
    }

    void prepare(std::uint64_t series) override {
        series_ = series;
        poison(block_.data(), block_.size());
        std::vector<double> numbers(face_numbers());
        const auto size = numbers.size() * sizeof(double);
        for (const Neighbour &one : neighbours_) {
            fill(reinterpret_cast<unsigned char *>(numbers.data()), size, key_of(seed_, series, rank_, one.side));
            walk(one.owned, [&](double &cell, std::size_t n) { cell = numbers[n]; });
        }
    }

    void flush() override { messages::flush(block_.data(), block_.size()); }

    void once(int) override {
        const int count = static_cast<int>(requests_.size());
        if (persistent_) {
            keep(MPI_Startall(count, requests_.data()));
        } else {
            const std::size_t others = neighbours_.size();
            for (std::size_t n = 0; n < others; ++n) {
                Neighbour &one = neighbours_[n];
                if (typed_)
                    keep(MPI_Irecv(values(), 1, one.received, one.rank, one.side ^ 1, grid_, &requests_[n]));
                else
                    keep(MPI_Irecv(one.incoming.data(), static_cast<int>(one.incoming.size()), MPI_DOUBLE, one.rank,
                                   one.side ^ 1, grid_, &requests_[n]));
            }
            for (std::size_t n = 0; n < others; ++n) {
                Neighbour &one = neighbours_[n];
                if (typed_) {
                    keep(MPI_Isend(values(), 1, one.sent, one.rank, one.side, grid_, &requests_[others + n]));
                } else {
                    walk(one.owned, [&](double &cell, std::size_t at) { one.outgoing[at] = cell; });
                    keep(MPI_Isend(one.outgoing.data(), static_cast<int>(one.outgoing.size()), MPI_DOUBLE, one.rank,
                                   one.side, grid_, &requests_[others + n]));
                }
            }
        }
        keep(MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE));
        if (!typed_)
            for (Neighbour &one : neighbours_)
                walk(one.halo, [&](double &cell, std::size_t at) { cell = one.incoming[at]; });
    }

    // The neighbour's block is made again here, as it made its own: faces share cells at the edges of a block.
    std::int64_t wrong() override {
        std::int64_t count = 0;
        std::vector<double> expected(face_numbers());
        for (const Neighbour &one : neighbours_) {
            Buffer other(block_.size());
            fill_as(one.rank, other);
            const Face sent = face(one.side / 2, 1 - one.side % 2, false);
            walk_in(reinterpret_cast<double *>(other.data()), sent,
                    [&](double &cell, std::size_t at) { expected[at] = cell; });
            walk(one.halo, [&](double &cell, std::size_t at) {
                if (std::memcmp(&cell, &expected[at], sizeof cell) != 0)
                    count += static_cast<std::int64_t>(sizeof cell);
            });
        }
        return count;
    }

    std::int64_t bytes_sent() const override {
        return static_cast<std::int64_t>(neighbours_.size() * face_numbers() * sizeof(double));
    }

  private:
    struct Neighbour {
        int rank, side; // side: 2 axis, and 1 above
        Face owned, halo;
        MPI_Datatype sent = MPI_DATATYPE_NULL, received = MPI_DATATYPE_NULL;
        std::vector<double> outgoing{}, incoming{};
    };

    double *values() { return reinterpret_cast<double *>(block_.data()); }

    std::size_t face_numbers() const {
        std::size_t numbers = 1;
        for (int axis = 1; axis < dimensions_; ++axis)
            numbers *= static_cast<std::size_t>(cells_);
        return numbers;
    }

    Face face(int axis, int side, bool halo) const {
        Face plane{std::vector<int>(static_cast<std::size_t>(dimensions_), 1),
                   std::vector<int>(static_cast<std::size_t>(dimensions_), cells_)};
        plane.shape[static_cast<std::size_t>(axis)] = 1;
        plane.first[static_cast<std::size_t>(axis)] =
            side ? cells_ + static_cast<int>(halo) : 1 - static_cast<int>(halo);
        return plane;
    }

    MPI_Datatype type_of(const Face &plane) const {
        const std::vector<int> sizes(static_cast<std::size_t>(dimensions_), cells_ + 2);
        MPI_Datatype type;
        check(MPI_Type_create_subarray(dimensions_, sizes.data(), plane.shape.data(), plane.first.data(), MPI_ORDER_C,
                                       MPI_DOUBLE, &type));
        check(MPI_Type_commit(&type));
        return type;
    }

    template <class Each> void walk(const Face &plane, Each each) { walk_in(values(), plane, each); }

    // Calls `each` with every cell of a plane and its number.
    template <class Each> void walk_in(double *block, const Face &plane, Each each) const {
        const auto side = static_cast<std::size_t>(cells_) + 2;
        const bool flat = dimensions_ == 2;
        const auto at = [](const std::vector<int> &of, int axis) {
            return static_cast<std::size_t>(of[static_cast<std::size_t>(axis)]);
        };
        const std::size_t planes = flat ? 1 : at(plane.shape, 0);
        const int row = flat ? 0 : 1, column = row + 1;
        std::size_t number = 0;
        for (std::size_t i = 0; i < planes; ++i) {
            const std::size_t depth = flat ? 0 : at(plane.first, 0) + i;
            for (std::size_t j = 0; j < at(plane.shape, row); ++j) {
                double *cells = block + (depth * side + at(plane.first, row) + j) * side + at(plane.first, column);
                for (std::size_t k = 0; k < at(plane.shape, column); ++k)
                    each(cells[k], number++);
            }
        }
    }

    // The block of another rank as it was before the exchange: its sides in the order in which it fills them.
    void fill_as(int rank, Buffer &block) const {
        poison(block.data(), block.size());
        std::array<int, most_dimensions> dims{}, periods{}, place{};
        check(MPI_Cart_get(grid_, dimensions_, dims.data(), periods.data(), place.data()));
        check(MPI_Cart_coords(grid_, rank, dimensions_, place.data()));
        std::vector<double> numbers(face_numbers());
        for (int axis = 0; axis < dimensions_; ++axis)
            for (const int side : {0, 1}) {
                const auto n = static_cast<std::size_t>(axis);
                if (side ? place[n] + 1 == dims[n] : place[n] == 0)
                    continue;
                fill(reinterpret_cast<unsigned char *>(numbers.data()), numbers.size() * sizeof(double),
                     key_of(seed_, series_, static_cast<std::uint64_t>(rank),
                            static_cast<std::uint64_t>(2 * axis + side)));
                walk_in(reinterpret_cast<double *>(block.data()), face(axis, side, false),
                        [&](double &cell, std::size_t at) { cell = numbers[at]; });
            }
    }

    MPI_Comm grid_;
    int dimensions_, cells_, rank_ = 0;
    std::uint64_t seed_, series_ = 0;
    bool typed_, persistent_;
    Buffer block_;
    std::vector<Neighbour> neighbours_;
    std::vector<MPI_Request> requests_; // receives, then sends
};

} // namespace

std::unique_ptr<Exchange> open_halo(MPI_Comm comm, const Case &wanted, int dimensions) {
    if (wanted.protocol != "types" && wanted.protocol != "persistent" && wanted.protocol != "packed")
        throw Unknown("protocol " + wanted.protocol);
    return std::make_unique<Halo>(comm, wanted, dimensions);
}

} // namespace fathometer::messages
