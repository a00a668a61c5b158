// Memory for large arrays: on huge pages where the system offers them, first touched by the threads that will use it.
#pragma once

#include <cstddef>

namespace fathometer {

// Arrays that a kernel goes through together begin at different places of their pages: a store to one would seem to
// the processor to meet the loads from all others at the same place of theirs, and wait for them.
constexpr std::size_t stagger_bytes = 9 * 64, staggers = 7;

// Behind the end of an array, for vectors that are loaded whole though not all of their lanes are wanted.
constexpr std::size_t spare_bytes = 128;

// Zeroed memory of `bytes` bytes; thread t touches the t-th part first. Throws std::bad_alloc.
void *allocate_zeroed(std::size_t bytes);
void release(void *memory) noexcept;

// From now on blocks of up to so many bytes that are freed stay with the process: otherwise each large array that comes
// and goes is given to the system and has to be zeroed by it anew, which may take longer than what is done with it.
// Where the system's allocator has no such choice (others than glibc's) nothing happens.
void keep_freed_memory(int bytes);

} // namespace fathometer
