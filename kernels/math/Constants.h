// The mathematical constants of Constants.def as Constants<T>::name.
#ifndef ASTRA_KERNELS_MATH_CONSTANTS_H
#define ASTRA_KERNELS_MATH_CONSTANTS_H

namespace astra {
namespace math {

template <class T> struct Constants;
template <> struct Constants<float> {
#define ASTRA_CONSTANT(name, single, double_)                                  \
  static constexpr float name = single;
#include "kernels/math/Constants.def"
#undef ASTRA_CONSTANT
};
template <> struct Constants<double> {
#define ASTRA_CONSTANT(name, single, double_)                                  \
  static constexpr double name = double_;
#include "kernels/math/Constants.def"
#undef ASTRA_CONSTANT
};

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_CONSTANTS_H
