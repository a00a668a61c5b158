#include "vti.hpp"

#include "equation.hpp"

namespace fathometer::acoustic {

template <class T> std::unique_ptr<Acoustic<T>> vti() { return std::make_unique<Solved<Vti, T>>(); }

template std::unique_ptr<Acoustic<float>> vti();
template std::unique_ptr<Acoustic<double>> vti();

} // namespace fathometer::acoustic
