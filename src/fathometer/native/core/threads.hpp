// The team of threads of this process and the cores that they run on.
#pragma once

#include <vector>

namespace fathometer {

void set_threads(int threads);
int threads();

// Thread t of the team may run on cpus[t % size] alone from now on. Throws std::system_error.
void pin_threads(const std::vector<int> &cpus);

// For each thread of the team: the cores it may run on.
std::vector<std::vector<int>> thread_binding();

} // namespace fathometer
