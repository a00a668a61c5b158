// Memory for large arrays: on huge pages where the system offers them, first touched by the threads that will use it.
#pragma once

#include <cstddef>

namespace fathometer {

// Zeroed memory of `bytes` bytes; thread t touches the t-th part first. Throws std::bad_alloc.
void *allocate_zeroed(std::size_t bytes);
void release(void *memory) noexcept;

} // namespace fathometer
