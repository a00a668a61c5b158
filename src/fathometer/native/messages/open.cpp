#include "exchange.hpp"

namespace fathometer::messages {

std::unique_ptr<Exchange> open_exchange(MPI_Comm comm, const Case &wanted) {
    if (wanted.pattern == "pair") {
        if (wanted.direction == "echo") { // one buffer: of two-sided messages alone
            if (auto exchange = open_two_sided(comm, wanted))
                return exchange;
            throw Unknown("protocol " + wanted.protocol);
        }
        for (const auto open : {open_two_sided, open_one_sided, open_shared})
            if (auto exchange = open(comm, wanted))
                return exchange;
        throw Unknown("protocol " + wanted.protocol);
    }
    if (wanted.pattern == "halo2d" || wanted.pattern == "halo3d")
        return open_halo(comm, wanted, wanted.pattern == "halo2d" ? 2 : 3);
    if (wanted.pattern == "transpose")
        return open_transpose(comm, wanted);
    return open_collective(comm, wanted);
}

} // namespace fathometer::messages
