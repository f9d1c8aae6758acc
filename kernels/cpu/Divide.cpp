// Division and remainder of integers, vectorised: processors divide floats many
// at a time but integers one by one, so quotients are computed in a float type
// that holds both operands exactly. The rounded quotient of two integers below
// 2^m in size, in a type of more than m bits, never reaches the next whole
// number above the true one: that is at least 2^-m of it away. So its whole
// part is right.
#include "kernels/Ops.h"
#include "kernels/cpu/Tiles.h"

using namespace astra;

namespace {

/// The float type for operands of T. 64-bit integers of moderate size go to
/// double.
template <class T>
using Quotient = std::conditional_t<sizeof(T) <= 2, float, double>;

/// Between int64_t and double for sizes below 2^51, by the bits of 1.5 2^52 +
/// x: instruction sets without such a conversion have it all the same.
constexpr double magic = 0x1.8p52;
ASTRA_INLINE inline double asDouble(int64_t x) {
  return bitsAs<double>(bitsAs<int64_t>(magic) + x) - magic;
}
ASTRA_INLINE inline int64_t wholePart(double x) {
  double size = copySignOf(x, 0.0), rounded = size + magic - magic;
  rounded -= rounded > size ? 1.0 : 0.0;
  int64_t whole = bitsAs<int64_t>(rounded + magic) - bitsAs<int64_t>(magic);
  return x < 0 ? -whole : whole;
}

/// a / b truncated, b not 0 and the quotient within T.
template <class T> ASTRA_INLINE inline T truncatedQuotient(T a, T b) {
  if constexpr (sizeof(T) == 8)
    return T(wholePart(asDouble(int64_t(a)) / asDouble(int64_t(b))));
  else
    return T(Quotient<T>(a) / Quotient<T>(b));
}

/// The quotient rounded down and the remainder that goes with it.
template <class T> struct Parts {
  T quotient, rest;
};
template <class T> ASTRA_INLINE inline Parts<T> divideParts(T a, T b) {
  if constexpr (!std::is_signed_v<T>) {
    T q = truncatedQuotient(a, b);
    return {q, T(a - Wrap<T>(q) * b)};
  } else {
    // The least integer by -1 has no quotient.
    bool negates = b == T(-1);
    T q = truncatedQuotient(negates ? T(0) : a, b);
    T rest = T(Wrap<T>(negates ? T(0) : a) - Wrap<T>(q) * Wrap<T>(b));
    bool down = rest != 0 && (rest < 0) != (b < 0);
    q = negates ? Op_neg::apply(a) : T(q - T(down));
    return {q, T(Wrap<T>(rest) + Wrap<T>(down ? b : T(0)))};
  }
}

template <class Op> constexpr bool isRemainder = std::is_same_v<Op, Op_rem>;

template <class Op, class T>
ASTRA_SHARED void divideTile(const T *a, const T *b, T *out, int64_t n) {
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) {
    Parts<T> parts = divideParts(a[i], b[i]);
    out[i] = isRemainder<Op> ? parts.rest : parts.quotient;
  }
}

template <class T> ASTRA_SHARED bool hasZero(const T *b, int64_t n) {
  T zeros = 0;
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    zeros |= T(b[i] == 0);
  return zeros != 0;
}

/// Are all of them below 2^51 in size?
template <class T> ASTRA_SHARED bool isModerate(const T *x, int64_t n) {
  constexpr uint64_t limit = uint64_t(1) << 51;
  uint64_t high = 0;
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    high |= std::is_signed_v<T> ? uint64_t(x[i]) + limit : uint64_t(x[i]);
  return high < (std::is_signed_v<T> ? 2 * limit : limit);
}

/// One tile; false if a divisor is 0.
template <class Op, class T>
bool divide(const T *a, const T *b, T *out, int64_t n) {
  if (hasZero(b, n))
    return false;
  if (sizeof(T) < 8 || (isModerate(a, n) && isModerate(b, n)))
    divideTile<Op>(a, b, out, n);
  else
    for (int64_t i = 0; i < n; ++i)
      out[i] = Op::apply(a[i], b[i]);
  return true;
}

/// The first place, in row-major order, where the divisor is 0.
template <class T> int64_t firstZero(const astra_arg_t &b) {
  Nest<1> nest = nestOf<1>(&b);
  int64_t place = 0;
  nest.visit(0, nest.size(), [&](const int64_t (&offset)[1], int64_t count) {
    const T *at = static_cast<const T *>(b.data) + offset[0];
    for (int64_t i = 0; i < count; ++i, ++place)
      if (at[i * nest.innerStride(0)] == 0)
        return false;
    return true;
  });
  return place;
}

template <class Op, class T>
astra_outcome_t divideAll(const astra_call_t *call, const astra_arg_t *args) {
  Nest<3> nest = nestOf<3>(args);
  bool failed = false;
  auto run = [&](const int64_t (&offset)[3], int64_t count) {
    alignas(64) T buffer[2][tileSize], result[tileSize];
    const T *in[2];
    for (int64_t at = 0; at < count; at += tileSize) {
      int64_t n = count - at < tileSize ? count - at : tileSize;
      for (int k = 0; k < 2; ++k) {
        int64_t stride = nest.innerStride(k);
        in[k] = static_cast<const T *>(args[k].data) + offset[k] + at * stride;
        if (stride == 1)
          continue;
        loadRun(in[k], stride, n, buffer[k]);
        in[k] = buffer[k];
      }
      if (!divide<Op>(in[0], in[1], result, n)) {
        __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
        return false;
      }
      int64_t stride = nest.innerStride(2);
      storeRun(result, n,
               static_cast<T *>(args[2].data) + offset[2] + at * stride,
               stride);
    }
    return true;
  };
  parallelFor(call, nest.size(), elementGrain / 4,
              [&](int64_t begin, int64_t end) { nest.visit(begin, end, run); });
  if (!failed)
    return ASTRA_OK;
  Sentence s;
  s.text("integer division by zero: the divisor is 0");
  if (args[1].rank)
    s.text(" at ").index(args[1], firstZero<T>(args[1]));
  return call->api->fail(call, ASTRA_ERROR_DIVISION_BY_ZERO, s.get());
}

} // namespace

#define INT_DIVIDE(op, dtype, version, doc)                                    \
  ASTRA_DEFINE_VARIANT(op, dtype, 1d, divideAll<Op_##op, T_##dtype>(call, args))
#include "kernels/kernels.def"
