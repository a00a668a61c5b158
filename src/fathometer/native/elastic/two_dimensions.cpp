#include "elastic.hpp"
#include "solved.hpp"

namespace fathometer::elastic {

template <class T> std::unique_ptr<Elastic<T>> in_two_dimensions(bool relaxing) {
    return std::make_unique<Solved<false, T>>(relaxing);
}

template std::unique_ptr<Elastic<float>> in_two_dimensions(bool);
template std::unique_ptr<Elastic<double>> in_two_dimensions(bool);

} // namespace fathometer::elastic
