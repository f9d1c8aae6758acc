// Many quotients by one divisor without a division for each: the reciprocal,
// rounded to nearest, gives a quotient whose remainder, which fma computes
// without an error, corrects it (Markstein). The result is that of `/`, bit for
// bit, wherever the remainder is sure; elsewhere it says nothing.
#ifndef ASTRA_KERNELS_MATH_QUOTIENT_H
#define ASTRA_KERNELS_MATH_QUOTIENT_H

#include "kernels/math/Core.h"

namespace astra {
namespace math {

/// A divisor d, brought to [1, 2^20] by a power of two where it lies within
/// [2^-20, 2^20]; for any other one the inverse is NaN, and nothing sure.
template <class T> struct KnownDivisor {
  T scale;
  T divisor;
  T inverse;
};

template <class T> ASTRA_MATH_FN KnownDivisor<T> knownDivisor(T d) {
  constexpr T Limit = T(0x1p20);
  T scale = d < T(1) ? Limit : T(1);
  T divisor = d * scale;
  bool known = divisor >= T(1) && divisor <= Limit;
  return {scale, divisor, known ? T(1) / divisor : nan<T>()};
}

/// A quotient, and the remainder of the one that it has been corrected from.
template <class T> struct KnownQuotient {
  T value;
  T rest;
};

/// The signs of the remainder are chosen so that -0 stays.
template <class T>
ASTRA_MATH_FN KnownQuotient<T> divideByKnown(T a, KnownDivisor<T> d) {
  T numerator = a * d.scale;
  T q = numerator * d.inverse;
  T rest = fma(q, d.divisor, -numerator);
  return {fma(rest, -d.inverse, q), rest};
}

/// Whether a quotient is that of `/`. Let p be the bits of a number, d the
/// divisor in [1, 2^20], r its inverse, x the true quotient and u the last
/// place of q. A remainder of normal size is a multiple of u ulp(d), so that
/// fma rounds it only where |x - q| > u; and rounding q - rest r decides by
/// whether |rest| is above or below u d / 2, which is a number of p bits:
/// (u d / 2 + u ulp(d) / 2) r > u / 2, since r >= 1/d - ulp(r) / 2. Where |x -
/// q| > u the quotient lies below a power of two, |x - q| < 3/2 u, and the
/// result is the neighbour of q. A remainder that is rounded to 0 is at most
/// half of the least subnormal number, and q is the nearest number. A subnormal
/// q leaves a remainder below 2^20 of those, which is not normal. Infinities
/// and NaN make the remainder NaN.
template <class T> ASTRA_MATH_FN bool isSure(KnownQuotient<T> q) {
  BitsOf<T> size = toBits(q.rest) & ~Format<T>::Sign;
  constexpr BitsOf<T> Least = BitsOf<T>(1) << Format<T>::Mantissa;
  return size == 0 || (size >= Least && size < Format<T>::Infinity);
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_QUOTIENT_H
