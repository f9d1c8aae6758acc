// The elementwise operations on 16 elements at a time, for fused code: astrac
// links those that a program needs into its object. Each is the definition of
// kernels/Ops.h in a loop that is vectorised here, when Astra is built, so that
// a program's compilation only joins finished pieces. Compiled to LLVM bitcode
// without a processor level; the level comes with the program. And once more on
// 32 elements (ASTRA_WIDE_LANES) for AVX-512: two vectors of registers, so that
// the operations of one fill the waiting times of the other, and instructions
// that only this level has.
#include "kernels/Ops.h"
#include "kernels/math/Quotient.h"
#ifdef ASTRA_WIDE_LANES
#include <immintrin.h>
#endif

using namespace astra;

// Whole vectors, whatever the cost model says of the level that this is built
// for: the arrays then vanish where the function is inlined. A short loop would
// be unrolled before it is vectorised, and its branches would stay.
#ifdef ASTRA_WIDE_LANES
#define ASTRA_LANES 32
#define ASTRA_LANE_NAME(name) astra_l_wide_##name
#define ASTRA_WHOLE                                                            \
  _Pragma("clang loop vectorize_width(32) interleave_count(1)")                \
      _Pragma("clang loop unroll(disable)")
#else
#define ASTRA_LANES 16
#define ASTRA_LANE_NAME(name) astra_l_##name
#define ASTRA_WHOLE                                                            \
  _Pragma("clang loop vectorize_width(16) interleave_count(1)")                \
      _Pragma("clang loop unroll(disable)")
#endif
#define ASTRA_LANE_LOOP ASTRA_WHOLE for (int i = 0; i < ASTRA_LANES; ++i)

#define ASTRA_SCALAR_LOOP                                                      \
  _Pragma("clang loop vectorize(disable) unroll(disable)") for (int i = 0;     \
                                                                i <            \
                                                                ASTRA_LANES;   \
                                                                ++i)

#define ASTRA_LANE_FN extern "C" ASTRA_INLINE void

namespace {
template <class Op, class In, class Out> struct Lane {
  ASTRA_INLINE static void run(Out *__restrict out, const In *__restrict a) {
    ASTRA_LANE_LOOP
    out[i] = narrow<Out>(Op::apply(widen(a[i])));
  }
  ASTRA_INLINE static void run(Out *__restrict out, const In *__restrict a,
                               const In *__restrict b) {
    ASTRA_LANE_LOOP
    out[i] = narrow<Out>(Op::apply(widen(a[i]), widen(b[i])));
  }
};

// These have loops of their own.
template <class T> struct Lane<Op_trigamma, T, T> {
  ASTRA_INLINE static void run(T *__restrict out, const T *__restrict a) {
    ASTRA_SCALAR_LOOP
    out[i] = narrow<T>(Op_trigamma::apply(widen(a[i])));
  }
};
template <class T> struct Lane<Op_rem, T, T> {
  ASTRA_INLINE static void run(T *__restrict out, const T *__restrict a,
                               const T *__restrict b) {
    ASTRA_SCALAR_LOOP
    out[i] = narrow<T>(Op_rem::apply(widen(a[i]), widen(b[i])));
  }
};

#ifdef ASTRA_WIDE_LANES
// math::expOf, scaled by the power as it is found: a real number, which the
// instruction takes without a conversion.
template <> struct Lane<Op_exp, float, float> {
  ASTRA_INLINE static void run(float *__restrict out,
                               const float *__restrict a) {
    using Range = math::ExpRange<float>;
    float value[ASTRA_LANES], power[ASTRA_LANES];
    ASTRA_LANE_LOOP {
      float x = math::clamp(a[i], Range::Low, Range::High);
      auto e = math::expOfReduced(math::reduceExp(x).r);
      value[i] = e.high + e.low;
      power[i] = math::nearestMultiple(x, math::Constants<float>::log2E).real;
    }
    for (int i = 0; i < ASTRA_LANES; i += 16)
      _mm512_storeu_ps(out + i, _mm512_scalef_ps(_mm512_loadu_ps(value + i),
                                                 _mm512_loadu_ps(power + i)));
  }
};
#endif

// Written without branches. Equal values differ at most in the sign of zero.
template <bool larger, class T> struct ExtremeLane {
  ASTRA_INLINE static void run(T *__restrict out, const T *__restrict a,
                               const T *__restrict b) {
#ifdef ASTRA_WIDE_LANES
    if constexpr (std::is_same_v<T, float>)
      return runFloats(out, a, b);
#endif
    ASTRA_LANE_LOOP
    if constexpr (isInt<T>) {
      out[i] = Extreme<larger>::apply(a[i], b[i]);
    } else {
      using C = Compute<T>;
      C x = widen(a[i]), y = widen(b[i]);
      auto xBits = bitsAs<BitsOf<C>>(x), yBits = bitsAs<BitsOf<C>>(y);
      C ordered = (larger ? x > y : x < y) ? x : y;
      C tie = bitsAs<C>(larger ? xBits & yBits : xBits | yBits);
      ordered = x == y ? tie : ordered;
      out[i] = narrow<T>(x != x ? x : ordered);
    }
  }

#ifdef ASTRA_WIDE_LANES
  /// One instruction orders numbers and zeros, but takes a number before NaN,
  /// which is put in last: a fold waits for it.
  ASTRA_INLINE static void runFloats(float *__restrict out,
                                     const float *__restrict a,
                                     const float *__restrict b) {
    for (int i = 0; i < ASTRA_LANES; i += 16) {
      __m512 x = _mm512_loadu_ps(a + i), y = _mm512_loadu_ps(b + i);
      __mmask16 anyNan = _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q);
      __m512 ordered = _mm512_range_ps(x, y, larger ? 5 : 4);
      _mm512_storeu_ps(out + i,
                       _mm512_mask_mov_ps(ordered, anyNan,
                                          _mm512_set1_ps(math::nan<float>())));
    }
  }
#endif
};
template <class T> struct Lane<Op_maximum, T, T> : ExtremeLane<true, T> {};
template <class T> struct Lane<Op_minimum, T, T> : ExtremeLane<false, T> {};

// The reduction of large angles has branches; where no angle is large the
// forms without it give the same bits.
#define ASTRA_ANGLE_LANE(name)                                                 \
  template <class T> struct Lane<Op_##name, T, T> {                            \
    ASTRA_INLINE static void run(T *__restrict out, const T *__restrict a) {   \
      bool moderate = true;                                                    \
      ASTRA_LANE_LOOP                                                          \
      moderate &= math::isModerateAngle(widen(a[i]));                          \
      if (!moderate) {                                                         \
        ASTRA_SCALAR_LOOP                                                      \
        out[i] = narrow<T>(math::name(widen(a[i])));                           \
        return;                                                                \
      }                                                                        \
      ASTRA_LANE_LOOP                                                          \
      out[i] = narrow<T>(math::name##Moderate(widen(a[i])));                   \
    }                                                                          \
  };
ASTRA_ANGLE_LANE(sin)
ASTRA_ANGLE_LANE(cos)
ASTRA_ANGLE_LANE(tan)
} // namespace

#define ASTRA_LANE1(name, Op, In, Out)                                         \
  ASTRA_LANE_FN ASTRA_LANE_NAME(name)(Out *__restrict out,                     \
                                      const In *__restrict a) {                \
    Lane<Op, In, Out>::run(out, a);                                            \
  }
#define ASTRA_LANE2(name, Op, In, Out)                                         \
  ASTRA_LANE_FN ASTRA_LANE_NAME(name)(                                         \
      Out *__restrict out, const In *__restrict a, const In *__restrict b) {   \
    Lane<Op, In, Out>::run(out, a, b);                                         \
  }

#ifdef ASTRA_WIDE_LANES
// Elements over a divisor that they have in common.
ASTRA_LANE_FN
astra_l_wide_known_divisor_f32(float *__restrict scale,
                               float *__restrict divisor,
                               float *__restrict inverse,
                               const float *__restrict x) {
  ASTRA_LANE_LOOP {
    auto known = math::knownDivisor(x[i]);
    scale[i] = known.scale;
    divisor[i] = known.divisor;
    inverse[i] = known.inverse;
  }
}

ASTRA_LANE_FN
astra_l_wide_div_by_known_f32(float *__restrict out, const float *__restrict a,
                              const float *__restrict b,
                              const float *__restrict scale,
                              const float *__restrict divisor,
                              const float *__restrict inverse) {
  float rest[ASTRA_LANES];
  ASTRA_LANE_LOOP {
    auto quotient =
        math::divideByKnown<float>(a[i], {scale[i], divisor[i], inverse[i]});
    out[i] = quotient.value;
    rest[i] = quotient.rest;
  }
  // math::isSure in one instruction: no NaN, infinity or subnormal number.
  constexpr int unsure = 0x01 | 0x08 | 0x10 | 0x20 | 0x80;
  unsigned any = 0;
  for (int i = 0; i < ASTRA_LANES; i += 16)
    any |= _mm512_fpclass_ps_mask(_mm512_loadu_ps(rest + i), unsure);
  if (any) {
    ASTRA_LANE_LOOP
    out[i] = a[i] / b[i];
  }
}
#endif

#define UNARY(op, dtype, version, doc)                                         \
  ASTRA_LANE1(op##_##dtype, Op_##op, T_##dtype, T_##dtype)
#define PREDICATE(op, dtype, version, doc)                                     \
  ASTRA_LANE1(op##_##dtype, Op_##op, T_##dtype, Bool)
#define BINARY(op, dtype, version, doc)                                        \
  ASTRA_LANE2(op##_##dtype, Op_##op, T_##dtype, T_##dtype)
#define COMPARE(op, dtype, version, doc)                                       \
  ASTRA_LANE2(op##_##dtype, Op_##op, T_##dtype, Bool)
#define SELECT(op, width, version, doc)                                        \
  ASTRA_LANE_FN ASTRA_LANE_NAME(op##_##width)(                                 \
      T_##width *__restrict out, const Bool *__restrict condition,             \
      const T_##width *__restrict a, const T_##width *__restrict b) {          \
    ASTRA_LANE_LOOP {                                                          \
      T_##width x = a[i], y = b[i];                                            \
      out[i] = condition[i].value ? x : y;                                     \
    }                                                                          \
  }
#define CONVERT(from, to)                                                      \
  ASTRA_LANE_FN ASTRA_LANE_NAME(convert_##from##_##to)(                        \
      T_##to *__restrict out, const T_##from *__restrict a) {                  \
    ASTRA_LANE_LOOP                                                            \
    out[i] = convert<T_##to>(a[i]);                                            \
  }
#include "kernels/kernels.def"
