// Absorbing layers by complex stretching of coordinates (C-PML; Komatitsch & Martin 2007, Geophysics 72(5)): every
// derivative across a layer gets a memory variable at the points where it is used,
//
//   memory = decay memory + gain d,   d -> d + memory
//
// which is advanced with its row: nothing else needs it. Beside it all fields there lose a little in every step,
//
//   v -> keep v
//
// which is the multi-axial form of these layers (Meza-Fajardo & Papageorgiou 2008, Bull. Seism. Soc. Am. 98(4)):
// damping of derivatives along the layer is a share of that across, and this share taken off all derivatives is damping
// of the field itself. Without it, waves guided by thin beds grow in the layer.
#pragma once

#include <cstdint>

namespace fathometer::elastic {

// One absorbing side, of one axis. Arrays over cells begin at `lo`; layers of z begin at whole vectors.
template <class T> struct Layer {
    int axis;
    std::int64_t lo, hi;         // owned cells
    T *memory[2][3];             // [stage][component of the force or of the velocity]
    std::int64_t stride[2];      // of x and y in the memories
    const T *gain[2], *decay[2]; // at nodes, at half points behind them
    const T *keep[2];            // likewise; null: all 1

    // Where the row of a memory begins, indexed by k as fields are.
    std::int64_t row(std::int64_t i, std::int64_t j) const {
        return (axis == 0 ? i - lo : i) * stride[0] + (axis == 1 ? j - lo : j) * stride[1] - (axis == 2 ? lo : 0);
    }
};

} // namespace fathometer::elastic
