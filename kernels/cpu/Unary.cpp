// Elementwise kernels of one operand: one vectorised loop for each operation
// and type, driven by Tiles.h.
#include "kernels/OfDouble.h"
#include "kernels/Parts.h"
#include "kernels/cpu/Tiles.h"

using namespace astra;

namespace {

/// The block of an operation on f32 by that on f64. The conversions are scalar:
/// most such operations are, and scalar code is slower after vectors.
template <Elementwise<1, double, double>::Block block>
void ofDouble(const float *a, const float *, float *out, int64_t n,
              int64_t parameter) {
  alignas(64) double buffer[tileSize];
  for (int64_t at = 0; at < n; at += tileSize) {
    int64_t count = n - at < tileSize ? n - at : tileSize;
    ASTRA_SCALAR_LOOP
    for (int64_t i = 0; i < count; ++i)
      buffer[i] = double(a[at + i]);
    block(buffer, buffer, buffer, count, parameter);
    ASTRA_SCALAR_LOOP
    for (int64_t i = 0; i < count; ++i)
      out[at + i] = float(buffer[i]);
  }
}

template <class Op, class C, class CO> struct Loop {
  static void block(const C *a, const C *, CO *out, int64_t n, int64_t) {
    if constexpr (isOfDouble<Op> && std::is_same_v<C, float>) {
      ofDouble<Loop<Op, double, double>::block>(a, a, out, n, 0);
    } else {
      ASTRA_VECTOR_LOOP
      for (int64_t i = 0; i < n; ++i)
        out[i] = Op::apply(a[i]);
    }
  }
};

/// Elements that go through a long chain of operations together. With AVX-512
/// that are two vectors, which do not wait for one another.
#if defined(__AVX512F__)
#define ASTRA_TURN_LOOP                                                        \
  _Pragma("clang loop vectorize(assume_safety) interleave_count(2)")
template <class C> constexpr int64_t turn = 128 / sizeof(C);
#else
#define ASTRA_TURN_LOOP ASTRA_VECTOR_LOOP
template <class C> constexpr int64_t turn = 64 / sizeof(C);
#endif

/// Whole turns in place, and what is left over in memory of a turn: so loops
/// have no other form for that.
template <class C>
ASTRA_SHARED void inTurns(typename Elementwise<1, C, C>::Block block,
                          const C *a, C *out, int64_t n) {
  int64_t whole = n & -turn<C>;
  if (whole)
    block(a, a, out, whole, 0);
  if (whole == n)
    return;
  int64_t bytes = (n - whole) * int64_t(sizeof(C));
  alignas(64) C rest[turn<C>] = {};
  loadPart(reinterpret_cast<const char *>(a + whole), bytes,
           reinterpret_cast<char *>(rest));
  block(rest, rest, rest, turn<C>, 0);
  storePart(reinterpret_cast<const char *>(rest), bytes,
            reinterpret_cast<char *>(out + whole));
}

// The functions that take long, and have no branches.
#define ASTRA_LONG_LOOP(name)                                                  \
  template <class C> struct Loop<Op_##name, C, C> {                            \
    static void turns(const C *a, const C *, C *out, int64_t n, int64_t) {     \
      ASTRA_TURN_LOOP                                                          \
      for (int64_t i = 0; i < (n & -turn<C>); ++i)                             \
        out[i] = Op_##name::apply(a[i]);                                       \
    }                                                                          \
    static void block(const C *a, const C *, C *out, int64_t n, int64_t) {     \
      inTurns<C>(turns, a, out, n);                                            \
    }                                                                          \
  };
ASTRA_LONG_LOOP(cbrt)
ASTRA_LONG_LOOP(exp)
ASTRA_LONG_LOOP(exp2)
ASTRA_LONG_LOOP(expm1)
ASTRA_LONG_LOOP(log)
ASTRA_LONG_LOOP(log1p)
ASTRA_LONG_LOOP(log2)
ASTRA_LONG_LOOP(log10)
ASTRA_LONG_LOOP(asin)
ASTRA_LONG_LOOP(acos)
ASTRA_LONG_LOOP(atan)
ASTRA_LONG_LOOP(sinh)
ASTRA_LONG_LOOP(cosh)
ASTRA_LONG_LOOP(tanh)
ASTRA_LONG_LOOP(sech2)
ASTRA_LONG_LOOP(sigmoid)
ASTRA_LONG_LOOP(log_sigmoid)
ASTRA_LONG_LOOP(softplus)
ASTRA_LONG_LOOP(silu)
ASTRA_LONG_LOOP(gelu)
ASTRA_LONG_LOOP(erf)
ASTRA_LONG_LOOP(erfc)
ASTRA_LONG_LOOP(erfinv)

// The reduction of large angles has branches; where no angle is large the
// forms without it give the same bits.
#define ASTRA_ANGLE_LOOP(name)                                                 \
  template <class C> struct Loop<Op_##name, C, C> {                            \
    static void block(const C *a, const C *, C *out, int64_t n, int64_t) {     \
      bool moderate = true;                                                    \
      for (int64_t i = 0; i < n; ++i)                                          \
        moderate &= math::isModerateAngle(a[i]);                               \
      if (!moderate) {                                                         \
        for (int64_t i = 0; i < n; ++i)                                        \
          out[i] = math::name(a[i]);                                           \
        return;                                                                \
      }                                                                        \
      ASTRA_VECTOR_LOOP                                                        \
      for (int64_t i = 0; i < n; ++i)                                          \
        out[i] = math::name##Moderate(a[i]);                                   \
    }                                                                          \
  };
ASTRA_ANGLE_LOOP(sin)
ASTRA_ANGLE_LOOP(cos)
ASTRA_ANGLE_LOOP(tan)

template <class C>
void powBlock(const C *a, const C *, C *out, int64_t n, int64_t exponent) {
  if (exponent == 2) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
      out[i] = Op_mul::apply(a[i], a[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    out[i] = powInt(a[i], exponent);
}

template <class In, class Out>
using Block = typename Elementwise<1, In, Out>::Block;

/// One for all operations on a type without buffers. What is short and lies as
/// the block wants it needs no tiles.
template <class In, class Out>
ASTRA_SHARED astra_outcome_t runPlain(const astra_call_t *call,
                                      const astra_arg_t *args,
                                      Block<In, Out> block) {
  const astra_arg_t &in = args[0], &out = args[1];
  if (in.rank == 0 || (in.rank == 1 && in.shape[0] <= elementGrain &&
                       in.strides[0] == 1 && out.strides[0] == 1)) {
    const In *from = static_cast<const In *>(in.data);
    block(from, from, static_cast<Out *>(out.data), in.rank ? in.shape[0] : 1,
          0);
    return ASTRA_OK;
  }
  return Elementwise<1, In, Out>(args, block, 0).run(call);
}

template <class Op, class T, class Out = Operand<Op, T>>
astra_outcome_t unary(const astra_call_t *call, const astra_arg_t *args) {
  using In = Operand<Op, T>;
  using L = Loop<Op, Compute<In>, Compute<Out>>;
  if constexpr (isSmallFloat<In>)
    return Elementwise<1, In, Out>(args, L::block, 0).run(call);
  else
    return runPlain<In, Out>(call, args, L::block);
}

template <class T>
astra_outcome_t power(const astra_call_t *call, const astra_arg_t *args,
                      int64_t exponent) {
  return Elementwise<1, T, T>(args, powBlock<Compute<T>>, exponent).run(call);
}

template <class Op, class C>
void orderedBlock(const C *a, const C *, C *out, int64_t n, int64_t order) {
  if constexpr (isOfDouble<Op> && std::is_same_v<C, float>)
    ofDouble<orderedBlock<Op, double>>(a, a, out, n, order);
  else
    for (int64_t i = 0; i < n; ++i)
      out[i] = Op::apply(a[i], order);
}

template <class Op, class T>
astra_outcome_t ordered(const astra_call_t *call, const astra_arg_t *args,
                        int64_t order) {
  return Elementwise<1, T, T>(args, orderedBlock<Op, Compute<T>>, order)
      .run(call);
}

} // namespace

#define UNARY(op, dtype, version, doc)                                         \
  ASTRA_DEFINE_VARIANT(op, dtype, 1d, unary<Op_##op, T_##dtype>(call, args))
#define PREDICATE(op, dtype, version, doc)                                     \
  ASTRA_DEFINE_VARIANT(op, dtype, 1d,                                          \
                       unary<Op_##op, T_##dtype, T_bool>(call, args))
#define POW_INT(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_VARIANT(op, dtype, 1d,                                          \
                       power<Signless<T_##dtype>>(call, args, params[0]))
#define ORDERED(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_VARIANT(op, dtype, 1d,                                          \
                       ordered<Op_##op, T_##dtype>(call, args, params[0]))
#include "kernels/kernels.def"
