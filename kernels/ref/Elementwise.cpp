// The normative elementwise kernels: one scalar application of the operation to
// each element, whatever the layout. The walk over the elements is one for all;
// of its own an operation has the function that it calls for each.
#include "kernels/Call.h"
#include "kernels/OfDouble.h"
#include "kernels/View.h"

using namespace astra;

namespace {

template <class T> T *at(const astra_arg_t &arg, int64_t offset) {
  return static_cast<T *>(arg.data) + offset;
}

template <class T> T loaded(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class T> void store(char *to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

/// Rounds to a small float, in code that its operations share.
template <class T> ASTRA_SHARED T narrowed(Compute<T> x) {
  return narrow<T>(x);
}

/// Stores what an operation on T gives: narrow(Op(widen(x))) if it is of the
/// type that it computes in, so that a small float rounds once.
template <class T, class R> void finish(char *to, R result) {
  if constexpr (isSmallFloat<T> && std::is_same_v<R, float>)
    store(to, narrowed<T>(result));
  else
    store(to, result);
}

/// The operation on floats, in code that f32, f16 and bf16 share, and f64 where
/// it is the operation on f64.
template <class Op, class... C> ASTRA_SHARED auto shared(C... x) {
  return Op::apply(x...);
}
template <class Op, class C, class... More> auto scalar(C x, More... more) {
  if constexpr (isOfDouble<Op>)
    return C(shared<Op>(double(x), more...));
  else if constexpr (std::is_same_v<C, float>)
    return shared<Op>(x, more...);
  else
    return Op::apply(x, more...);
}

/// For one element of each view; where there is one operand, b is a.
using Element = void (*)(const char *a, const char *b, char *out,
                         int64_t parameter);

template <class Op, class T>
void unaryElement(const char *a, const char *, char *out, int64_t) {
  finish<T>(out, scalar<Op>(widen(loaded<T>(a))));
}
template <class Op, class T>
void binaryElement(const char *a, const char *b, char *out, int64_t) {
  finish<T>(out, scalar<Op>(widen(loaded<T>(a)), widen(loaded<T>(b))));
}
/// Of an operation with a number that is one for all elements.
template <class Op, class T>
void givenElement(const char *a, const char *, char *out, int64_t parameter) {
  finish<T>(out, scalar<Op>(widen(loaded<T>(a)), parameter));
}
template <class From, class To>
void convertElement(const char *a, const char *, char *out, int64_t) {
  store(out, convert<To>(loaded<From>(a)));
}
template <class T>
void copyElement(const char *a, const char *, char *out, int64_t) {
  store(out, loaded<T>(a));
}

struct PowInt {
  template <class C> static C apply(C x, int64_t exponent) {
    return powInt(x, exponent);
  }
};

/// Calls `element` for each of the elements of N operands of one type and the
/// result, whose sizes are in bytes.
template <int N>
ASTRA_SHARED astra_outcome_t forEachElement(const astra_arg_t *args,
                                            Element element, int64_t sizeIn,
                                            int64_t sizeOut,
                                            int64_t parameter = 0) {
  Nest<N + 1> nest = nestOf<N + 1>(args);
  int64_t sa = nest.innerStride(0) * sizeIn,
          sb = nest.innerStride(N - 1) * sizeIn,
          so = nest.innerStride(N) * sizeOut;
  nest.visit(0, nest.size(),
             [=](const int64_t (&offset)[N + 1], int64_t count) {
               const char *a = at<char>(args[0], offset[0] * sizeIn);
               const char *b = at<char>(args[N - 1], offset[N - 1] * sizeIn);
               char *out = at<char>(args[N], offset[N] * sizeOut);
               for (; count > 0; --count, a += sa, b += sb, out += so)
                 element(a, b, out, parameter);
               return true;
             });
  return ASTRA_OK;
}

template <class Op, class T, class Out = T>
astra_outcome_t unary(const astra_arg_t *args) {
  return forEachElement<1>(args, unaryElement<Op, T>, sizeof(T), sizeof(Out));
}
template <class Op, class T, class Out = T>
astra_outcome_t binary(const astra_arg_t *args) {
  return forEachElement<2>(args, binaryElement<Op, T>, sizeof(T), sizeof(Out));
}
template <class Op, class T>
astra_outcome_t given(const astra_arg_t *args, int64_t parameter) {
  return forEachElement<1>(args, givenElement<Op, T>, sizeof(T), sizeof(T),
                           parameter);
}

/// Integer division and remainder: nothing is written from the first divisor
/// that is 0.
template <class Op, class T>
astra_outcome_t divide(const astra_call_t *call, const astra_arg_t *args) {
  Nest<3> nest = nestOf<3>(args);
  int64_t sa = nest.innerStride(0), sb = nest.innerStride(1),
          so = nest.innerStride(2), done = 0;
  bool fine = nest.visit(
      0, nest.size(), [&](const int64_t (&offset)[3], int64_t count) {
        const T *a = at<T>(args[0], offset[0]), *b = at<T>(args[1], offset[1]);
        T *out = at<T>(args[2], offset[2]);
        for (int64_t i = 0; i < count; ++i, ++done) {
          if (b[i * sb] == 0)
            return false;
          out[i * so] = Op::apply(a[i * sa], b[i * sb]);
        }
        return true;
      });
  if (fine)
    return ASTRA_OK;
  Sentence s;
  s.text("integer division by zero: the divisor is 0");
  if (args[1].rank)
    s.text(" at ").index(args[1], done);
  return call->api->fail(call, ASTRA_ERROR_DIVISION_BY_ZERO, s.get());
}

template <class T> astra_outcome_t select(const astra_arg_t *args) {
  Nest<4> nest = nestOf<4>(args);
  nest.visit(0, nest.size(), [&](const int64_t (&offset)[4], int64_t count) {
    const Bool *c = at<Bool>(args[0], offset[0]);
    const T *a = at<T>(args[1], offset[1]), *b = at<T>(args[2], offset[2]);
    T *out = at<T>(args[3], offset[3]);
    for (int64_t i = 0; i < count; ++i)
      out[i * nest.innerStride(3)] = c[i * nest.innerStride(0)].value
                                         ? a[i * nest.innerStride(1)]
                                         : b[i * nest.innerStride(2)];
    return true;
  });
  return ASTRA_OK;
}

template <class T> astra_outcome_t iota(const astra_arg_t *args, int64_t axis) {
  Nest<1> nest = nestOf<1>(args);
  int64_t inner = 1, position = 0, extent = args[0].shape[axis];
  for (uint32_t d = uint32_t(axis) + 1; d < args[0].rank; ++d)
    inner *= args[0].shape[d];
  nest.visit(0, nest.size(), [&](const int64_t (&offset)[1], int64_t count) {
    T *out = at<T>(args[0], offset[0]);
    for (int64_t i = 0; i < count; ++i, ++position)
      out[i * nest.innerStride(0)] = convert<T>(position / inner % extent);
    return true;
  });
  return ASTRA_OK;
}

} // namespace

#define UNARY(op, dtype, version, doc)                                         \
  ASTRA_DEFINE_REF(op, dtype, unary<Op_##op, T_##dtype>(args))
#define PREDICATE(op, dtype, version, doc)                                     \
  ASTRA_DEFINE_REF(op, dtype, unary<Op_##op, T_##dtype, Bool>(args))
#define BINARY(op, dtype, version, doc)                                        \
  ASTRA_DEFINE_REF(op, dtype, binary<Op_##op, T_##dtype>(args))
#define COMPARE(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_REF(op, dtype, binary<Op_##op, T_##dtype, Bool>(args))
#define INT_DIVIDE(op, dtype, version, doc)                                    \
  ASTRA_DEFINE_REF(op, dtype, divide<Op_##op, T_##dtype>(call, args))
#define POW_INT(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_REF(op, dtype, given<PowInt, T_##dtype>(args, params[0]))
#define ORDERED(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_REF(op, dtype, given<Op_##op, T_##dtype>(args, params[0]))
#define SELECT(op, width, version, doc)                                        \
  ASTRA_DEFINE_REF(op, width, select<T_##width>(args))
#define COPY(op, width, version, doc)                                          \
  ASTRA_DEFINE_REF(op, width,                                                  \
                   forEachElement<1>(args, copyElement<T_##width>,             \
                                     sizeof(T_##width), sizeof(T_##width)))
#define CONVERT(from, to)                                                      \
  ASTRA_DEFINE_REF(convert, from##_##to,                                       \
                   forEachElement<1>(args, convertElement<T_##from, T_##to>,   \
                                     sizeof(T_##from), sizeof(T_##to)))
#define IOTA(op, dtype, version, doc)                                          \
  ASTRA_DEFINE_REF(op, dtype, iota<T_##dtype>(args, params[0]))
#include "kernels/kernels.def"
