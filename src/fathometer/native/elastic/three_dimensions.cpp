#include "elastic.hpp"
#include "solved.hpp"

namespace fathometer::elastic {

template <class T> std::unique_ptr<Elastic<T>> in_three_dimensions(bool relaxing) {
    return std::make_unique<Solved<true, T>>(relaxing);
}

template std::unique_ptr<Elastic<float>> in_three_dimensions(bool);
template std::unique_ptr<Elastic<double>> in_three_dimensions(bool);

} // namespace fathometer::elastic
