// The normative elementwise kernels: one scalar application of the operation to
// each element, whatever the layout.
#include "kernels/Call.h"
#include "kernels/Ops.h"
#include "kernels/View.h"

using namespace astra;

namespace {

template <class T> T *at(const astra_arg_t &arg, int64_t offset) {
  return static_cast<T *>(arg.data) + offset;
}

template <class Out, class T> Out finish(Out x) { return x; }

/// narrow(Op(widen(x))): a small float computes in float and rounds once.
template <class Op, class T> auto applyOp(T a) {
  auto r = Op::apply(widen(a));
  if constexpr (std::is_same_v<decltype(r), Compute<T>>)
    return narrow<T>(r);
  else
    return r;
}
template <class Op, class T> auto applyOp(T a, T b) {
  auto r = Op::apply(widen(a), widen(b));
  if constexpr (std::is_same_v<decltype(r), Compute<T>>)
    return narrow<T>(r);
  else
    return r;
}

template <class In, class Out, class F>
astra_outcome_t unary(const astra_arg_t *args, F f) {
  Nest<2> nest = nestOf<2>(args);
  int64_t si = nest.innerStride(0), so = nest.innerStride(1);
  nest.visit(0, nest.size(), [&](const int64_t (&offset)[2], int64_t count) {
    const In *in = at<In>(args[0], offset[0]);
    Out *out = at<Out>(args[1], offset[1]);
    for (int64_t i = 0; i < count; ++i)
      out[i * so] = f(in[i * si]);
    return true;
  });
  return ASTRA_OK;
}

template <class In, class Out, class F>
astra_outcome_t binary(const astra_arg_t *args, F f) {
  Nest<3> nest = nestOf<3>(args);
  int64_t sa = nest.innerStride(0), sb = nest.innerStride(1),
          so = nest.innerStride(2);
  nest.visit(0, nest.size(), [&](const int64_t (&offset)[3], int64_t count) {
    const In *a = at<In>(args[0], offset[0]), *b = at<In>(args[1], offset[1]);
    Out *out = at<Out>(args[2], offset[2]);
    for (int64_t i = 0; i < count; ++i)
      out[i * so] = f(a[i * sa], b[i * sb]);
    return true;
  });
  return ASTRA_OK;
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
  ASTRA_DEFINE_REF(op, dtype,                                                  \
                   unary<T_##dtype, T_##dtype>(                                \
                       args, [](T_##dtype x) { return applyOp<Op_##op>(x); }))
#define PREDICATE(op, dtype, version, doc)                                     \
  ASTRA_DEFINE_REF(op, dtype, unary<T_##dtype, Bool>(args, [](T_##dtype x) {   \
                     return applyOp<Op_##op>(x);                               \
                   }))
#define BINARY(op, dtype, version, doc)                                        \
  ASTRA_DEFINE_REF(                                                            \
      op, dtype,                                                               \
      binary<T_##dtype, T_##dtype>(args, [](T_##dtype a, T_##dtype b) {        \
        return applyOp<Op_##op>(a, b);                                         \
      }))
#define COMPARE(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_REF(                                                            \
      op, dtype, binary<T_##dtype, Bool>(args, [](T_##dtype a, T_##dtype b) {  \
        return applyOp<Op_##op>(a, b);                                         \
      }))
#define INT_DIVIDE(op, dtype, version, doc)                                    \
  ASTRA_DEFINE_REF(op, dtype, divide<Op_##op, T_##dtype>(call, args))
#define POW_INT(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_REF(op, dtype,                                                  \
                   unary<T_##dtype, T_##dtype>(args, [params](T_##dtype x) {   \
                     return narrow<T_##dtype>(powInt(widen(x), params[0]));    \
                   }))
#define ORDERED(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_REF(                                                            \
      op, dtype, unary<T_##dtype, T_##dtype>(args, [params](T_##dtype x) {     \
        return narrow<T_##dtype>(Op_##op::apply(widen(x), params[0]));         \
      }))
#define SELECT(op, width, version, doc)                                        \
  ASTRA_DEFINE_REF(op, width, select<T_##width>(args))
#define COPY(op, width, version, doc)                                          \
  ASTRA_DEFINE_REF(                                                            \
      op, width,                                                               \
      unary<T_##width, T_##width>(args, [](T_##width x) { return x; }))
#define CONVERT(from, to)                                                      \
  ASTRA_DEFINE_REF(convert, from##_##to,                                       \
                   unary<T_##from, T_##to>(                                    \
                       args, [](T_##from x) { return convert<T_##to>(x); }))
#define IOTA(op, dtype, version, doc)                                          \
  ASTRA_DEFINE_REF(op, dtype, iota<T_##dtype>(args, params[0]))
#include "kernels/kernels.def"
