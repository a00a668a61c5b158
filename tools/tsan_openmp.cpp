// For builds with ThreadSanitizer alone: what it cannot see in libgomp, which is not instrumented.
//
// The linker puts these in the place of libgomp's functions (CMakeLists.txt, --wrap). They tell the sanitizer what a
// parallel region and a barrier order: all that came before a region is seen by its threads, all that they did is seen
// after it, and all that came before a barrier is seen behind it. No other entry of libgomp is used by the kernels: a
// loop with a static schedule is computed by each thread for itself. The threads' meetings in core/team.hpp are atomics,
// which the sanitizer sees.
#include <sanitizer/tsan_interface.h>

extern "C" {

void __real_GOMP_parallel(void (*work)(void *), void *data, unsigned threads, unsigned flags);
void __real_GOMP_barrier();

struct Region {
    void (*work)(void *);
    void *data;
    char begun, ended; // places that stand for these moments
};

static void in_region(void *argument) {
    Region *region = static_cast<Region *>(argument);
    __tsan_acquire(&region->begun);
    region->work(region->data);
    __tsan_release(&region->ended);
}

__attribute__((no_sanitize("thread"))) void __wrap_GOMP_parallel(void (*work)(void *), void *data, unsigned threads,
                                                                 unsigned flags) {
    Region region{work, data, 0, 0};
    __tsan_release(&region.begun);
    __real_GOMP_parallel(in_region, &region, threads, flags);
    __tsan_acquire(&region.ended);
}

static char barrier;

void __wrap_GOMP_barrier() {
    __tsan_release(&barrier);
    __real_GOMP_barrier();
    __tsan_acquire(&barrier);
}
}
