#include "isotropic.hpp"

#include "equation.hpp"

namespace fathometer::acoustic {

template <class T> std::unique_ptr<Acoustic<T>> isotropic() { return std::make_unique<Solved<Isotropic, T>>(); }

template std::unique_ptr<Acoustic<float>> isotropic();
template std::unique_ptr<Acoustic<double>> isotropic();

} // namespace fathometer::acoustic
