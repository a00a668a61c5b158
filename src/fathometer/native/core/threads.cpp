#include "threads.hpp"

#include <cerrno>
#include <system_error>

#include <omp.h>
#include <sched.h>

namespace fathometer {

namespace {

// Affinity sets of any size: machines with more than 1024 cores exist.
class CpuSet {
  public:
    CpuSet() : bits(CPU_ALLOC(count)) { CPU_ZERO_S(size(), bits); }
    ~CpuSet() { CPU_FREE(bits); }
    CpuSet(const CpuSet &) = delete;
    CpuSet &operator=(const CpuSet &) = delete;
    static constexpr int count = 8192;
    static std::size_t size() { return CPU_ALLOC_SIZE(count); }
    cpu_set_t *bits;
};

} // namespace

void set_threads(int threads) {
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
}

int threads() { return omp_get_max_threads(); }

void pin_threads(const std::vector<int> &cpus) {
    int failure = 0;
#pragma omp parallel
    {
        CpuSet set;
        CPU_SET_S(cpus[omp_get_thread_num() % cpus.size()], CpuSet::size(), set.bits);
        if (sched_setaffinity(0, CpuSet::size(), set.bits) != 0) {
#pragma omp atomic write
            failure = errno;
        }
    }
    if (failure)
        throw std::system_error(failure, std::generic_category(), "a thread cannot be bound to its core");
}

std::vector<std::vector<int>> thread_binding() {
    std::vector<std::vector<int>> binding(omp_get_max_threads());
#pragma omp parallel
    {
        CpuSet set;
        if (sched_getaffinity(0, CpuSet::size(), set.bits) == 0)
            for (int cpu = 0; cpu < CpuSet::count; ++cpu)
                if (CPU_ISSET_S(cpu, CpuSet::size(), set.bits))
                    binding[omp_get_thread_num()].push_back(cpu);
    }
    return binding;
}

} // namespace fathometer
