// asin, acos, atan, atan2: reduction to a small argument by exact steps, one
// series, and a multiple of pi/4 added as a pair.
#ifndef ASTRA_KERNELS_MATH_ARC_H
#define ASTRA_KERNELS_MATH_ARC_H

#include "kernels/math/Constants.h"
#include "kernels/math/Core.h"
#include "kernels/math/Polynomials.h"

namespace astra {
namespace math {

/// asin t = t + t w where t = |x| up to 1/2, and beyond it t = sqrt((1 -
/// |x|)/2), of which t.low is what rounding lost; there asin |x| = pi/2 - 2
/// asin t.
template <class T> struct ArcSine {
  bool far;
  Pair<T> t;
  T w;
};

template <class T> ASTRA_MATH_FN ArcSine<T> arcSine(T x) {
  T magnitude = abs(x);
  bool far = magnitude > T(0.5);
  T farSquare = (T(1) - magnitude) * T(0.5);
  T root = sqrt(farSquare);
  T lost = root == 0 ? T(0) : fma(-root, root, farSquare) / (root + root);
  T z = far ? farSquare : magnitude * magnitude;
  return {far,
          {select(far, root, magnitude), select(far, lost, T(0))},
          z * asinTail(z)};
}

template <class T> ASTRA_MATH_FN T asinOf(T x) {
  using C = Constants<T>;
  ArcSine<T> a = arcSine(x);
  T small = fma(a.t.high, a.w, a.t.low);
  Pair<T> s = fastTwoSum(C::halfPi, T(-2) * a.t.high);
  T far = s.high + (s.low + fma(T(-2), small, C::halfPiLow));
  T near = a.t.high + small;
  return mulSign(a.far ? far : near, x);
}

template <class T> ASTRA_MATH_FN T acosOf(T x) {
  using C = Constants<T>;
  ArcSine<T> a = arcSine(x);
  T small = fma(a.t.high, a.w, a.t.low);
  bool negative = isNegative(x);
  // |x| <= 1/2: pi/2 - asin x; x near 1: 2 asin t; x near -1: pi - 2 asin t.
  T sign = negative == a.far ? T(-1) : T(1);
  T factor = a.far ? T(2) : T(1);
  T base = a.far ? (negative ? C::pi : T(0)) : C::halfPi;
  T baseLow = a.far ? (negative ? C::piLow : T(0)) : C::halfPiLow;
  Pair<T> s = fastTwoSum(base, sign * factor * a.t.high);
  return s.high + (s.low + fma(sign * factor, small, baseLow));
}

/// The angle of (x, y) in the first quadrant, y and x not both 0, finite and of
/// a size whose sums and quotients are normal. `behind` takes it from pi
/// instead.
template <class T> ASTRA_MATH_FN T angleOf(T y, T x, bool behind) {
  using C = Constants<T>;
  bool steep = y > x;
  T less = steep ? x : y, more = steep ? y : x;
  // Beyond tan(pi/8): atan(less/more) = pi/4 + atan((less - more)/(less +
  // more)).
  bool middle = less > C::tanPiOver8 * more;
  Pair<T> difference = twoSum(less, -more), sum = twoSum(more, less);
  Pair<T> n = {select(middle, difference.high, less),
               select(middle, difference.low, T(0))};
  Pair<T> d = {select(middle, sum.high, more), select(middle, sum.low, T(0))};
  Pair<T> t = dividePairs(n, d);
  T z = t.high * t.high;
  T low = fma(t.high * z, atanTail(z), fma(-z, t.low, t.low));
  // The angle is eighths pi/4, plus or minus atan t.
  T eighths = middle ? T(1) : T(0);
  eighths = steep ? T(2) - eighths : eighths;
  eighths = behind ? T(4) - eighths : eighths;
  T sign = steep != behind ? T(-1) : T(1);
  Pair<T> base = twoProduct(eighths, C::halfPi * T(0.5));
  Pair<T> s = fastTwoSum(base.high, sign * t.high);
  return s.high +
         fma(sign, low, s.low + fma(eighths, C::halfPiLow * T(0.5), base.low));
}

template <class T> ASTRA_MATH_FN T atanOf(T x) {
  T magnitude = abs(x);
  // Beyond 2^60 the result is pi/2 rounded.
  T angle = angleOf(clamp(magnitude, T(0), T(0x1p60)), T(1), false);
  return magnitude < T(0x1p-30) ? x : mulSign(angle, x);
}

template <class T> ASTRA_MATH_FN T atan2Of(T y, T x) {
  T b = abs(y), a = abs(x);
  bool steep = b > a;
  T more = steep ? b : a;
  bool unbounded = more == infinity<T>();
  T one = T(1), zero = T(0);
  b = unbounded ? (b == more ? one : zero) : b;
  a = unbounded ? (a == more ? one : zero) : a;
  a = more == 0 ? one : a;
  // The larger is brought near 1; what the smaller loses is below every result
  // but subnormal ones.
  IntOf<T> e =
      unbounded || more == 0
          ? IntOf<T>(0)
          : IntOf<T>(toBits(more) >> Format<T>::Mantissa) - Format<T>::Bias;
  T angle = angleOf(scaleByTwo(b, -e), scaleByTwo(a, -e), isNegative(x));
  return x != x || y != y ? x + y : mulSign(angle, y);
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ARC_H
