// a b + c, rounded once where the processor can do that and twice where it cannot. Written out, and the compiler's own
// choice of contractions switched off (CMakeLists.txt), a cell's arithmetic is the same wherever its loop is inlined,
// split or vectorised: results do not depend on boxes, threads or ranks.
#pragma once

#include <cmath>

namespace fathometer {

template <class T> [[gnu::always_inline]] inline T madd(T a, T b, T c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return std::fma(a, b, c);
#else
    return a * b + c;
#endif
}

} // namespace fathometer
