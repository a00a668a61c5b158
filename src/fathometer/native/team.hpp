// Kernels are run by a team of threads: every thread calls the kernel, which divides the work among those of its team.
#pragma once

#include "denormals.hpp"

namespace fathometer {

// Calls work() in every thread of a new team.
template <class Work> void in_team(Work work) {
#pragma omp parallel
    {
        FlushDenormals guard;
        work();
    }
}

} // namespace fathometer
