// The fitted polynomials as functions of their variable, one overload a type.
// The coefficients are in Polynomials.def; the order of evaluation is horner's.
#ifndef ASTRA_KERNELS_MATH_POLYNOMIALS_H
#define ASTRA_KERNELS_MATH_POLYNOMIALS_H

#include "kernels/math/Core.h"

namespace astra {
namespace math {

#define ASTRA_POLYNOMIAL(name, type, ...)                                      \
  ASTRA_MATH_FN type name(type x) { return horner<type>(x, __VA_ARGS__); }
#include "kernels/math/Polynomials.def"
#undef ASTRA_POLYNOMIAL

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_POLYNOMIALS_H
