#include "memory.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <omp.h>
#include <sys/mman.h>

namespace fathometer {

void *allocate_zeroed(std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t(2) << 20;
    const std::size_t alignment = bytes >= huge_page ? huge_page : 4096;
    const std::size_t size = ((bytes + spare_bytes) / alignment + 1) * alignment;
    void *memory = std::aligned_alloc(alignment, size);
    if (!memory)
        throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (alignment == huge_page)
        madvise(memory, size, MADV_HUGEPAGE); // best effort: without huge pages everything works, a little slower
#endif
#pragma omp parallel
    {
        const std::size_t threads = omp_get_num_threads(), me = omp_get_thread_num();
        const std::size_t from = size / threads * me, to = me + 1 == threads ? size : size / threads * (me + 1);
        std::memset(static_cast<char *>(memory) + from, 0, to - from);
    }
    return memory;
}

void release(void *memory) noexcept { std::free(memory); }

void keep_freed_memory([[maybe_unused]] int bytes) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, bytes);
    mallopt(M_TRIM_THRESHOLD, bytes);
#endif
}

} // namespace fathometer
