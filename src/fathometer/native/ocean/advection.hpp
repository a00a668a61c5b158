// Flux of a tracer through a face: third-order direct space-time, limited.
//
//     q_face = q_up + Psi (q_down - q_up),  Psi = max(0, min(1, d0 + d1 r, r (1 - c) / c)),
//     r = (q_up - q_far) / (q_down - q_up),  d0 = (2 - c)(1 - c) / 6,  d1 = (1 - c²) / 6
//
// with c the part of the upstream cell's water that leaves through the face (Hundsdorfer & Trompert 1994, Appl. Numer.
// Math. 13, 469-490; limits of Sweby 1984). Where there is no water behind the upstream cell, r = 0.
#pragma once

namespace fathometer::ocean {

// Volume times tracer that moves in dt over the area, F q_face dt / area, for |F| dt / area = moved out of a cell of
// thickness h, c = moved / h: no quotient of differences, nothing divided by c. V is double or a vector of them.
template <class V> [[gnu::always_inline]] inline V limited_part(V moved, V h, V c, V up, V down, V far) {
    const V step = down - up, slope = up - far;
    const V a = step < 0 ? -step : step, b = slope < 0 ? -slope : slope, rest = 1 - c;
    const V mean = c * ((rest * (1.0 / 6)) * ((2 - c) * a + (1 + c) * b)), all = c * a, most = rest * b;
    const V first = mean < all ? mean : all, second = most < first ? most : first;
    const V part = second < 0 ? second * 0 : second; // c > 1
    const V signed_part = step < 0 ? -part : part;
    return moved * up + h * (step * slope > 0 ? signed_part : part * 0);
}

} // namespace fathometer::ocean
