// Absorbing layers by complex stretching of the coordinate.
//
//   d2w/dx2  ->  (1/s) d/dx (1/s) dw/dx,   1/s = 1 - eta / (i omega + eta + alpha)
//
// for each axis by itself (Komatitsch & Martin 2007, Geophysics 72(5); for second-order equations Pasalic & McGarry
// 2010, SEG). In time 1/s is 1 plus a recursive filter g, q -> memory, memory = decay * memory + gain * q. With L the
// centred second derivative of order 2R and d the first derivative at half points,
//
//   (1/s) D (1/s) D w  =  (1 + g) [ L w - d^T (g d w) ]
//
// d reaches (R+1)/2 points, so that the two of them together stay within the stencil's reach R: the layer needs no
// wider halo than the interior. d^T g d is symmetric whatever g does in time; times s, the whole operator is
// symmetric at every frequency, and so F* remains F run on reversed time, layers included.
#pragma once

#include "region.hpp"
#include "wavefield.hpp"

namespace fathometer {

// Whether any layer's first derivative must be advanced before the cells of a part are.
template <class T> bool needs_halves(const Wavefield<T> &w, const Part &part);

// Advance the first derivatives (psi) of all layers in a part's half points, from the field "now": one member's share
// of it. Layers that are advanced in their rows are left to add_layers.
template <class T> void advance_halves(const Wavefield<T> &w, const Part &part, int64_t member, int64_t members);

// Add all layers' parts to the cells of a box of "next", right after its rows were computed, while they are in the
// cache. Every owned cell must be passed exactly once a step, after the half points around it.
template <class T> void add_layers(const Wavefield<T> &w, const Box &box);

} // namespace fathometer
