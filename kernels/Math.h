// The elementary functions under the names of kernels.def. Until kernels/math is
// complete it takes what is missing from the C library.
#ifndef ASTRA_KERNELS_MATH_H
#define ASTRA_KERNELS_MATH_H

#include <cmath>

namespace astra {
namespace math {
#define ASTRA_FROM_LIBM(name)                                                  \
  template <class C> static inline C name(C x) { return std::name(x); }
ASTRA_FROM_LIBM(exp)
ASTRA_FROM_LIBM(exp2)
ASTRA_FROM_LIBM(expm1)
ASTRA_FROM_LIBM(log)
ASTRA_FROM_LIBM(log1p)
ASTRA_FROM_LIBM(log2)
ASTRA_FROM_LIBM(log10)
ASTRA_FROM_LIBM(sqrt)
ASTRA_FROM_LIBM(cbrt)
ASTRA_FROM_LIBM(sin)
ASTRA_FROM_LIBM(cos)
ASTRA_FROM_LIBM(tan)
ASTRA_FROM_LIBM(asin)
ASTRA_FROM_LIBM(acos)
ASTRA_FROM_LIBM(atan)
ASTRA_FROM_LIBM(sinh)
ASTRA_FROM_LIBM(cosh)
ASTRA_FROM_LIBM(tanh)
ASTRA_FROM_LIBM(erf)
ASTRA_FROM_LIBM(erfc)
ASTRA_FROM_LIBM(lgamma)
#undef ASTRA_FROM_LIBM
template <class C> static inline C rsqrt(C x) { return C(1) / std::sqrt(x); }
template <class C> static inline C sigmoid(C x) {
  return C(1) / (C(1) + std::exp(-x));
}
template <class C> static inline C softplus(C x) {
  return (x > 0 ? x : C(0)) + std::log1p(std::exp(x > 0 ? -x : x));
}
template <class C> static inline C log_sigmoid(C x) { return -softplus(-x); }
template <class C> static inline C silu(C x) { return x * sigmoid(x); }
template <class C> static inline C gelu(C x) {
  return C(0.5) * x * std::erfc(-x * C(0.70710678118654752440));
}
template <class C> static inline C erfinv(C x) {
  if (!(x > -1 && x < 1))
    return x == 1 || x == -1 ? x / C(0) : x - x;
  double l = std::log1p(-double(x) * x), t = 4.3307467 + l / 2;
  double y = std::sqrt(std::sqrt(t * t - l / 0.147) - t);
  for (int i = 0; i < 4; ++i)
    y -= (std::erf(y) - std::fabs(double(x))) * 0.886226925452758 *
         std::exp(y * y);
  return std::copysign(C(y), x);
}
template <class C> static inline C digamma(C x) {
  double r = 0, y = x;
  for (; y < 8; y += 1)
    r -= 1 / y;
  double z = 1 / (y * y);
  return C(r + std::log(y) - 0.5 / y -
           z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z / 240))));
}
template <class C> static inline C trigamma(C x) {
  double r = 0, y = x;
  for (; y < 8; y += 1)
    r += 1 / (y * y);
  double z = 1 / (y * y);
  return C(r + 1 / y + z / 2 +
           z / y * (1. / 6 - z * (1. / 30 - z * (1. / 42 - z / 30))));
}
template <class C> static inline C pow(C a, C b) { return std::pow(a, b); }
template <class C> static inline C atan2(C a, C b) { return std::atan2(a, b); }
} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_H
