// What is exchanged in one series, and how a call of MPI that fails is told.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

namespace fathometer::messages {

// What is exchanged in one series.
struct Case {
    std::string pattern, protocol, direction;
    std::int64_t length; // bytes of a message, or of the part that each rank has in a collective call
    std::int64_t packet; // bytes that a pair sends at most in one call
    int slots;           // places in the buffers; more than one: each exchange of a series in a place of its own
    std::uint64_t seed;  // of the contents
};

struct Unknown : std::runtime_error { // a pattern, protocol or direction that there is not
    using std::runtime_error::runtime_error;
};

struct Failed : std::runtime_error { // a call of MPI returned an error
    using std::runtime_error::runtime_error;
};

// Raises Failed with what MPI says of a code.
inline void check(int code) {
    if (code == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Failed(std::string(text, static_cast<std::size_t>(length)));
}

// Keeps the first error of a timed loop, in which nothing is thrown.
class Outcome {
  public:
    void operator()(int code) {
        if (code != MPI_SUCCESS && first_ == MPI_SUCCESS)
            first_ = code;
    }
    int first() const { return first_; }

  private:
    int first_ = MPI_SUCCESS;
};

// One exchange of a pattern by a protocol, repeated by whoever times it.
//
//     prepare(series)      contents of a new series; what will be received is poisoned
//     flush()              all messages out of the caches
//     once(slot) ...       the exchange that is timed
//     finish()             within the time: what makes the last messages of a one-way series known to their sender
//     wrong()              bytes that are not what they must be
class Exchange {
  public:
    virtual ~Exchange() = default;
    virtual void prepare(std::uint64_t series) = 0;
    virtual void flush() {}
    virtual void once(int slot) = 0;
    virtual void finish() {}
    virtual std::int64_t wrong() = 0;
    virtual std::int64_t bytes_sent() const = 0; // by this rank in one exchange

    Outcome keep;
};

// Collective over `comm`: of pairs over its two ranks, of all others over all. Raises Unknown and Failed.
std::unique_ptr<Exchange> open_exchange(MPI_Comm comm, const Case &wanted);

std::unique_ptr<Exchange> open_two_sided(MPI_Comm pair, const Case &wanted); // null for a protocol of another kind
std::unique_ptr<Exchange> open_one_sided(MPI_Comm pair, const Case &wanted);
std::unique_ptr<Exchange> open_shared(MPI_Comm pair, const Case &wanted);
std::unique_ptr<Exchange> open_halo(MPI_Comm comm, const Case &wanted, int dimensions);
std::unique_ptr<Exchange> open_transpose(MPI_Comm comm, const Case &wanted);
std::unique_ptr<Exchange> open_collective(MPI_Comm comm, const Case &wanted);

inline int rank_of(MPI_Comm comm) {
    int rank = 0;
    check(MPI_Comm_rank(comm, &rank));
    return rank;
}

inline int size_of(MPI_Comm comm) {
    int size = 0;
    check(MPI_Comm_size(comm, &size));
    return size;
}

} // namespace fathometer::messages
