#include "clock.hpp"

#include <algorithm>
#include <vector>

namespace fathometer::messages {

Clock calibrated() {
    constexpr int readings = 2000, batches = 9;
    double resolution = 1.0;
    std::vector<double> costs;
    for (int batch = 0; batch < batches; ++batch) {
        const double begin = now();
        double last = begin;
        for (int n = 0; n < readings; ++n) {
            const double reading = now();
            if (reading > last)
                resolution = std::min(resolution, reading - last);
            last = reading;
        }
        costs.push_back((last - begin) / readings);
    }
    std::sort(costs.begin(), costs.end());
    return {resolution, costs[batches / 2]};
}

} // namespace fathometer::messages
