#include "barotropic_halo.hpp"

#include <algorithm>

namespace fathometer::ocean {

namespace {

constexpr int64_t elements_a_thread = 1 << 14; // below that threads cost more than they save

template <class From, class To>
void copy(const From *from, int64_t from_stride, To *to, int64_t to_stride, int64_t rows, int64_t length) {
    if (length == 1)
        for (int64_t r = 0; r < rows; ++r)
            to[r * to_stride] = from[r * from_stride];
    else
        for (int64_t r = 0; r < rows; ++r)
            std::copy(from + r * from_stride, from + r * from_stride + length, to + r * to_stride);
}

template <class List, class Body> void over(const List &list, const Body &body) {
    int64_t elements = 0;
    for (const auto &entry : list)
        elements += body(entry, false);
    const int64_t count = int64_t(list.size());
#pragma omp parallel for schedule(dynamic) if (elements > 2 * elements_a_thread)
    for (int64_t n = 0; n < count; ++n)
        body(list[n], true);
}

} // namespace

void HaloCopies::pack(double *buffer) const {
    over(sent, [&](const Packing &one, bool now) {
        const Patch &p = one.patch;
        if (now)
            copy(p.first, p.stride, buffer + one.place, p.length, p.rows, p.length);
        return p.size();
    });
    over(moved, [](const Moving &one, bool now) {
        if (now)
            copy(one.from.first, one.from.stride, one.to.first, one.to.stride, one.from.rows, one.from.length);
        return one.from.size();
    });
}

void HaloCopies::unpack(const double *buffer) const {
    over(received, [&](const Packing &one, bool now) {
        const Patch &p = one.patch;
        if (now)
            copy(buffer + one.place, p.length, p.first, p.stride, p.rows, p.length);
        return p.size();
    });
}

} // namespace fathometer::ocean
