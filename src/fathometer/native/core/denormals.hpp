// Flush denormal numbers to zero while in scope, in the calling thread: they are slow and carry nothing.
#pragma once

#include <cstdint>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace fathometer {

class FlushDenormals {
#if defined(__SSE2__)
  public:
    FlushDenormals() : saved(_mm_getcsr()) { _mm_setcsr(saved | 0x8040); }
    ~FlushDenormals() { _mm_setcsr(saved); }

  private:
    unsigned saved;
#elif defined(__aarch64__)
  public:
    FlushDenormals() {
        asm volatile("mrs %0, fpcr" : "=r"(saved));
        asm volatile("msr fpcr, %0" ::"r"(saved | (std::uint64_t(1) << 24)));
    }
    ~FlushDenormals() { asm volatile("msr fpcr, %0" ::"r"(saved)); }

  private:
    std::uint64_t saved;
#endif
};

} // namespace fathometer
