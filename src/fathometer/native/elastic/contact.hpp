// Derivatives along z next to a plane contact of a fluid and a solid: sums over the values around it, in place of those
// of the grid's stencils (seismic/elastic/contact_tables.py).
#pragma once

#include <cstdint>

namespace fathometer::elastic {

constexpr std::int64_t contact_cells = 48;     // of a row, at most: whole vectors
constexpr std::int64_t contact_columns = 16;   // values that a derivative asks for
constexpr std::int64_t contact_alignment = 16; // cells: whole vectors of any type
constexpr int contact_tables = 4;              // 2 stage + 1 for a shear stress, or a velocity along the contact

// All over the spacing; d becomes keep d + the sum.
template <class T> struct Contact {
    std::int64_t first = 0, last = 0; // cells with such derivatives; none if equal
    std::int64_t start = 0;           // of the values
    alignas(64) T table[contact_tables][contact_columns][contact_cells] = {};
    alignas(64) T keep[contact_tables][contact_cells] = {};
};

} // namespace fathometer::elastic
