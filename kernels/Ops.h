// The elementwise operations, one definition each, on the type that they
// compute in: float (also for f16 and bf16), double and the integers. `ref`
// applies them one by one and the optimised kernels in vectorised loops over
// the same source. The elementary functions come from kernels/math.
#ifndef ASTRA_KERNELS_OPS_H
#define ASTRA_KERNELS_OPS_H

#include "kernels/Types.h"
#include "kernels/math/Elementary.h"

ASTRA_KERNELS_BEGIN

/// The unsigned type that integer arithmetic wraps in: at least 32 bits, so
/// that promotion to int cannot overflow.
template <class T>
using Wrap = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

#define ASTRA_MATH_OP1(name)                                                   \
  struct Op_##name {                                                           \
    template <class C> ASTRA_INLINE static C apply(C x) {                      \
      return math::name(x);                                                    \
    }                                                                          \
  };
ASTRA_MATH_OP1(floor)
ASTRA_MATH_OP1(ceil)
ASTRA_MATH_OP1(round)
ASTRA_MATH_OP1(exp)
ASTRA_MATH_OP1(exp2)
ASTRA_MATH_OP1(expm1)
ASTRA_MATH_OP1(log)
ASTRA_MATH_OP1(log1p)
ASTRA_MATH_OP1(log2)
ASTRA_MATH_OP1(log10)
ASTRA_MATH_OP1(sqrt)
ASTRA_MATH_OP1(rsqrt)
ASTRA_MATH_OP1(cbrt)
ASTRA_MATH_OP1(sin)
ASTRA_MATH_OP1(cos)
ASTRA_MATH_OP1(tan)
ASTRA_MATH_OP1(asin)
ASTRA_MATH_OP1(acos)
ASTRA_MATH_OP1(atan)
ASTRA_MATH_OP1(sinh)
ASTRA_MATH_OP1(cosh)
ASTRA_MATH_OP1(tanh)
ASTRA_MATH_OP1(sech2)
ASTRA_MATH_OP1(sigmoid)
ASTRA_MATH_OP1(log_sigmoid)
ASTRA_MATH_OP1(softplus)
ASTRA_MATH_OP1(gelu)
ASTRA_MATH_OP1(silu)
ASTRA_MATH_OP1(erf)
ASTRA_MATH_OP1(erfc)
ASTRA_MATH_OP1(erfinv)
ASTRA_MATH_OP1(lgamma)
ASTRA_MATH_OP1(digamma)
ASTRA_MATH_OP1(trigamma)
#undef ASTRA_MATH_OP1

template <class C> inline constexpr int signShift = int(sizeof(C)) * 8 - 1;
template <class C> ASTRA_INLINE inline C copySignOf(C magnitude, C sign) {
  using Bits = BitsOf<C>;
  constexpr Bits mask = Bits(1) << signShift<C>;
  return bitsAs<C>(Bits((bitsAs<Bits>(magnitude) & Bits(~mask)) |
                        (bitsAs<Bits>(sign) & mask)));
}

struct Op_neg {
  template <class C> ASTRA_INLINE static C apply(C x) {
    if constexpr (isInt<C>)
      return C(Wrap<C>(0) - Wrap<C>(x));
    else
      return -x;
  }
};
struct Op_abs {
  template <class C> ASTRA_INLINE static C apply(C x) {
    if constexpr (!isInt<C>)
      return copySignOf(x, C(0));
    else
      return x < 0 ? Op_neg::apply(x) : x;
  }
};
struct Op_sign {
  template <class C> ASTRA_INLINE static C apply(C x) {
    if constexpr (isInt<C>)
      return x > C(0) ? C(1) : x < C(0) ? C(-1) : x;
    else
      return math::sign(x);
  }
};
struct Op_not {
  template <class C> ASTRA_INLINE static C apply(C x) {
    if constexpr (std::is_same_v<C, Bool>)
      return {uint8_t(x.value == 0)};
    else
      return C(~x);
  }
};

struct Op_is_nan {
  template <class C> ASTRA_INLINE static Bool apply(C x) {
    return {uint8_t(x != x)};
  }
};
struct Op_is_inf {
  template <class C> ASTRA_INLINE static Bool apply(C x) {
    return {uint8_t(copySignOf(x, C(0)) == std::numeric_limits<C>::infinity())};
  }
};

#define ASTRA_WRAPPING_OP2(name, op)                                           \
  struct Op_##name {                                                           \
    template <class C> ASTRA_INLINE static C apply(C a, C b) {                 \
      if constexpr (isInt<C>)                                                  \
        return C(Wrap<C>(a) op Wrap<C>(b));                                    \
      else                                                                     \
        return a op b;                                                         \
    }                                                                          \
  };
ASTRA_WRAPPING_OP2(add, +)
ASTRA_WRAPPING_OP2(sub, -)
ASTRA_WRAPPING_OP2(mul, *)
#undef ASTRA_WRAPPING_OP2

/// Of integers: the divisor is not 0.
struct Op_div {
  template <class C> ASTRA_INLINE static C apply(C a, C b) {
    if constexpr (!isInt<C>) {
      return a / b;
    } else {
      if (std::is_signed_v<C> && b == C(-1))
        return Op_neg::apply(a);
      C quotient = C(a / b);
      return C(quotient - C(std::is_signed_v<C> && quotient * b != a &&
                            (a < 0) != (b < 0)));
    }
  }
};

/// The exact remainder of a / b truncated, with the sign of a; finite a, b !=
/// 0.
template <class C> inline C truncatedRemainder(C a, C b) {
  using Bits = BitsOf<C>;
  constexpr int fractionBits = std::is_same_v<C, float> ? 23 : 52;
  constexpr int step = 63 - fractionBits; // bits that one division brings down
  constexpr Bits leading = Bits(1) << fractionBits;
  Bits x = bitsAs<Bits>(copySignOf(a, C(0)));
  Bits y = bitsAs<Bits>(copySignOf(b, C(0)));
  if (x < y)
    return a;
  int ex = int(x >> fractionBits), ey = int(y >> fractionBits);
  uint64_t mx = ex ? (x & (leading - 1)) | leading : x;
  uint64_t my = ey ? (y & (leading - 1)) | leading : y;
  int shift = (ex ? ex : 1) - (ey ? ey : 1);
  mx %= my;
  while (shift > 0 && mx) {
    int part = shift < step ? shift : step;
    mx = (mx << part) % my;
    shift -= part;
  }
  if (!mx)
    return copySignOf(C(0), a);
  // mx units of y's last place: exact, since it is below y.
  int exponent = ey ? ey : 1;
  while (!(mx & leading) && exponent > 1) {
    mx <<= 1;
    --exponent;
  }
  Bits bits =
      mx & leading
          ? Bits(Bits(exponent) << fractionBits | (Bits(mx) & (leading - 1)))
          : Bits(mx);
  return copySignOf(bitsAs<C>(bits), a);
}

struct Op_rem {
  template <class C> ASTRA_INLINE static C apply(C a, C b) {
    if constexpr (isInt<C>) {
      if (std::is_signed_v<C> && b == C(-1))
        return 0;
      C r = C(a % b);
      return C(std::is_signed_v<C> && r != 0 && (r < 0) != (b < 0) ? r + b : r);
    } else {
      constexpr C infinity = std::numeric_limits<C>::infinity();
      if (a != a || b != b || b == C(0) || copySignOf(a, C(0)) == infinity)
        return std::numeric_limits<C>::quiet_NaN();
      C r = truncatedRemainder(a, b);
      if (r == C(0))
        return copySignOf(C(0), b);
      return (r < C(0)) != (b < C(0)) ? r + b : r;
    }
  }
};

struct Op_pow {
  template <class C> ASTRA_INLINE static C apply(C a, C b) {
    return math::pow(a, b);
  }
};
struct Op_atan2 {
  template <class C> ASTRA_INLINE static C apply(C a, C b) {
    return math::atan2(a, b);
  }
};

template <bool larger> struct Extreme {
  template <class C> ASTRA_INLINE static C apply(C a, C b) {
    bool takeA = larger ? a > b : a < b;
    if constexpr (isInt<C>) {
      return takeA ? a : b;
    } else {
      // Equal values differ at most in the sign of zero.
      bool negative = bitsAs<BitsOf<C>>(a) >> signShift<C>;
      C ordered = takeA || (a == b && negative != larger) ? a : b;
      return a != a || b != b ? a + b : ordered;
    }
  }
};
struct Op_maximum : Extreme<true> {};
struct Op_minimum : Extreme<false> {};
struct Op_relu {
  template <class C> ASTRA_INLINE static C apply(C x) {
    return Op_maximum::apply(x, C(0));
  }
};

#define ASTRA_BIT_OP2(name, op)                                                \
  struct Op_##name {                                                           \
    template <class C> ASTRA_INLINE static C apply(C a, C b) {                 \
      if constexpr (std::is_same_v<C, Bool>)                                   \
        return {uint8_t((a.value != 0) op(b.value != 0))};                     \
      else                                                                     \
        return C(a op b);                                                      \
    }                                                                          \
  };
ASTRA_BIT_OP2(and, &)
ASTRA_BIT_OP2(or, |)
ASTRA_BIT_OP2(xor, ^)
#undef ASTRA_BIT_OP2

struct Op_shift_left {
  template <class C> ASTRA_INLINE static C apply(C a, C b) {
    using U = std::make_unsigned_t<C>;
    constexpr U width = sizeof(C) * 8;
    return U(b) < width ? C(Wrap<C>(a) << (U(b) & (width - 1))) : C(0);
  }
};
struct Op_shift_right {
  template <class C> ASTRA_INLINE static C apply(C a, C b) {
    using U = std::make_unsigned_t<C>;
    constexpr U width = sizeof(C) * 8;
    C sign = C(a < 0 ? -1 : 0);
    return U(b) < width ? C(a >> (U(b) & (width - 1))) : sign;
  }
};

#define ASTRA_COMPARE_OP(name, op)                                             \
  struct Op_##name {                                                           \
    template <class C> ASTRA_INLINE static Bool apply(C a, C b) {              \
      if constexpr (std::is_same_v<C, Bool>)                                   \
        return {uint8_t(a.value op b.value)};                                  \
      else                                                                     \
        return {uint8_t(a op b)};                                              \
    }                                                                          \
  };
ASTRA_COMPARE_OP(eq, ==)
ASTRA_COMPARE_OP(ne, !=)
ASTRA_COMPARE_OP(lt, <)
ASTRA_COMPARE_OP(le, <=)
ASTRA_COMPARE_OP(gt, >)
ASTRA_COMPARE_OP(ge, >=)
#undef ASTRA_COMPARE_OP

/// Operations that give both integers of a width the same bits, and the one
/// type that stands for both.
template <class Op> inline constexpr bool isSignless = false;
#define ASTRA_SIGNLESS(name)                                                   \
  template <> inline constexpr bool isSignless<Op_##name> = true;
ASTRA_SIGNLESS(neg)
ASTRA_SIGNLESS(not)
ASTRA_SIGNLESS(add)
ASTRA_SIGNLESS(sub)
ASTRA_SIGNLESS(mul)
ASTRA_SIGNLESS(and)
ASTRA_SIGNLESS(or)
ASTRA_SIGNLESS(xor)
ASTRA_SIGNLESS(shift_left)
ASTRA_SIGNLESS(eq)
ASTRA_SIGNLESS(ne)
#undef ASTRA_SIGNLESS
template <class Op, class T>
using Operand = std::conditional_t<isSignless<Op>, Signless<T>, T>;

/// x to a power by squaring: the factors are multiplied from the lowest bit of
/// the exponent up; no factor is 1.
template <class C> inline C powInt(C x, int64_t exponent) {
  C result = C(1), factor = x;
  bool empty = true;
  for (uint64_t bits = uint64_t(exponent); bits; bits >>= 1) {
    if (bits & 1) {
      result = empty ? factor : Op_mul::apply(result, factor);
      empty = false;
    }
    if (bits > 1)
      factor = Op_mul::apply(factor, factor);
  }
  return result;
}

#define ASTRA_ORDERED(name, implementation)                                    \
  struct Op_##name {                                                           \
    template <class C> static C apply(C x, int64_t order) {                    \
      return math::name(x, order);                                             \
    }                                                                          \
  };
#include "kernels/math/Elementary.def"

/// The fused multiply-add of floats; of integers the wrapping one.
inline float fusedMultiplyAdd(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline double fusedMultiplyAdd(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
template <class W> inline W fusedMultiplyAdd(W a, W b, W c) {
  return W(a * b + c);
}

/// What sums and products of T run in, with conversions from and to T.
template <class T>
using Accumulator = std::conditional_t<isInt<T>, Wrap<T>, Compute<T>>;
template <class T> inline Accumulator<T> toAccumulator(T x) {
  return Accumulator<T>(widen(x));
}
template <class T> inline T fromAccumulator(Accumulator<T> x) {
  if constexpr (isInt<T>)
    return T(x);
  else
    return narrow<T>(x);
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_OPS_H
