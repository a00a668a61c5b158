#include "memory.hpp"

#include <cstdint>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <omp.h>
#include <sys/mman.h>

namespace fathometer {

namespace {

constexpr std::size_t page = 4096, huge_page = std::size_t(2) << 20;

// What lies before an array, in a page of its own.
struct Mapping {
    void *begin;
    std::size_t bytes;
};

Mapping *mapping_of(void *memory) { return static_cast<Mapping *>(memory) - 1; }

} // namespace

// Straight from the system, whose pages are zero: to write zeros into them again would take as long once more. What is
// freed goes back to it, so that what it takes to get memory is the same for each array.
void *allocate_zeroed(std::size_t bytes) {
    const std::size_t alignment = bytes >= huge_page ? huge_page : page;
    const std::size_t size = ((bytes + spare_bytes) / alignment + 1) * alignment, whole = page + alignment + size;
    void *begin = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED)
        throw std::bad_alloc();
    const auto first = reinterpret_cast<std::uintptr_t>(begin) + page;
    char *memory = reinterpret_cast<char *>((first + alignment - 1) / alignment * alignment);
#ifdef MADV_HUGEPAGE
    if (alignment == huge_page)
        madvise(memory, size, MADV_HUGEPAGE); // best effort: without huge pages everything works, a little slower
#endif
    *mapping_of(memory) = {begin, whole};
#pragma omp parallel
    {
        const std::size_t threads = omp_get_num_threads(), me = omp_get_thread_num();
        const std::size_t pages = size / page, from = pages * me / threads, to = pages * (me + 1) / threads;
        for (std::size_t i = from; i < to; ++i)
            *static_cast<volatile char *>(memory + i * page) = 0;
    }
    return memory;
}

void release(void *memory) noexcept {
    const Mapping mapping = *mapping_of(memory);
    munmap(mapping.begin, mapping.bytes);
}

void keep_freed_memory([[maybe_unused]] int bytes) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, bytes);
    mallopt(M_TRIM_THRESHOLD, bytes);
#endif
}

} // namespace fathometer
