// rsqrt and cbrt: a first value, then a correction by the exact residual. Also
// the roundings to integers and sign, which need no series at all.
#ifndef ASTRA_KERNELS_MATH_ROOT_H
#define ASTRA_KERNELS_MATH_ROOT_H

#include "kernels/math/Core.h"
#include "kernels/math/Polynomials.h"

namespace astra {
namespace math {

template <class T> ASTRA_MATH_FN T rsqrtOf(T x) {
  // Subnormal x is raised by an even power, so that the residuals are exact.
  constexpr int Raise = Format<T>::Mantissa + 3 - (Format<T>::Mantissa + 3) % 2;
  bool tiny = x < powerOfTwo<T>(2 * Format<T>::Mantissa + 4 - Format<T>::Bias);
  T y = tiny ? x * powerOfTwo<T>(2 * Raise) : x;
  T root = sqrt(y), inverse = T(1) / root;
  // root^2 + over = y and inverse root + rest = 1, both exactly.
  T over = fma(-root, root, y), rest = fma(-inverse, root, T(1));
  T corrected =
      fma(inverse, fma(T(-0.5) * inverse * inverse, over, rest), inverse);
  T result = corrected * (tiny ? powerOfTwo<T>(Raise) : T(1));
  result = x == infinity<T>() ? T(0) : result;
  result = x == 0 ? copySign(infinity<T>(), x) : result;
  return x < 0 ? nan<T>() : result;
}

/// Halley's step towards the cube root of m.
template <class T> ASTRA_MATH_FN T cbrtStep(T y, T m) {
  T cube = y * y * y;
  return y * (fma(T(2), m, cube) / fma(T(2), cube, m));
}
ASTRA_MATH_FN float cbrtStart(float m) { return cbrtStep(cbrtSeed(m), m); }
ASTRA_MATH_FN double cbrtStart(double m) {
  return cbrtStep(cbrtStep(cbrtSeed(m), m), m);
}

template <class T> ASTRA_MATH_FN T cbrtOf(T x) {
  using F = Format<T>;
  using Bits = BitsOf<T>;
  T magnitude = abs(x);
  bool tiny = magnitude < powerOfTwo<T>(1 - F::Bias);
  // 54 and 24 are multiples of 3; so is what makes the exponent positive.
  constexpr int Raise = F::Mantissa == 23 ? 24 : 54, Offset = 3 * 1000;
  Bits b = toBits(tiny ? magnitude * powerOfTwo<T>(Raise) : magnitude);
  Bits e = (b >> F::Mantissa) + Bits(Offset - F::Bias - (tiny ? Raise : 0));
  Bits third = (e * 21846) >> 16;
  T m = fromBits(Bits((b & ((Bits(1) << F::Mantissa) - 1)) | toBits(T(1)))) *
        powerOfTwo<T>(IntOf<T>(e - 3 * third));
  T y = cbrtStart(m);
  Pair<T> square = twoProduct(y, y), cube = twoProduct(square.high, y);
  T over = (cube.high - m) + fma(square.low, y, cube.low);
  y = y - over / (T(3) * square.high);
  T result = mulSign(y * powerOfTwo<T>(IntOf<T>(third) - Offset / 3), x);
  return magnitude < infinity<T>() && magnitude != 0 ? result : x;
}

/// The least magnitude at which every number is an integer.
template <class T> ASTRA_MATH_FN T integersFrom() {
  return powerOfTwo<T>(Format<T>::Mantissa);
}

template <class T> ASTRA_MATH_FN T roundOf(T x) {
  T magnitude = abs(x);
  // The sum has no bits below 1; numbers that are integers already are left
  // alone.
  T shift = magnitude < integersFrom<T>() ? integersFrom<T>() : T(0);
  return copySign((magnitude + shift) - shift, x);
}

template <class T> ASTRA_MATH_FN T floorOf(T x) {
  T r = roundOf(x);
  return copySign(r > x ? r - T(1) : r, x);
}

template <class T> ASTRA_MATH_FN T ceilOf(T x) {
  T r = roundOf(x);
  return copySign(r < x ? r + T(1) : r, x);
}

/// -1 or 1; zeros and NaN stay what they are.
template <class T> ASTRA_MATH_FN T signOf(T x) {
  T one = copySign(T(1), x);
  return x > 0 || x < 0 ? one : x;
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ROOT_H
