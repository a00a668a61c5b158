// Cells of halos: into buffers of messages, out of them, and between blocks of one rank.
#pragma once

#include <cstdint>
#include <vector>

namespace fathometer::ocean {

// `rows` runs of `length` elements of an array, `stride` apart.
struct Patch {
    double *first;
    int64_t rows, length, stride;

    int64_t size() const { return rows * length; }
};

struct Packing {
    Patch patch;
    int64_t place; // in the buffer
};

struct Moving {
    Patch from, to;
};

class HaloCopies {
  public:
    std::vector<Packing> sent, received;
    std::vector<Moving> moved;

    void pack(double *buffer) const; // those sent, and what is moved
    void unpack(const double *buffer) const;
};

} // namespace fathometer::ocean
