// The kernels of assert, assert_eq and assert_close: they compute nothing and
// fail with a sentence that shows the place and both values.
#include "kernels/Call.h"
#include "kernels/Ops.h"
#include "kernels/View.h"

using namespace astra;

namespace {

template <class T> void show(Sentence &s, T x) {
  if constexpr (std::is_same_v<T, Bool>)
    s.text(x.value ? "true" : "false");
  else if constexpr (std::is_same_v<T, double>)
    s.real(x, 17);
  else if constexpr (isFloat<T>)
    s.real(double(widen(x)), isSmallFloat<T> ? 5 : 9);
  else if constexpr (std::is_signed_v<T>)
    s.integer(x);
  else
    s.natural(x);
}

Sentence &begin(Sentence &s, const int64_t *params) {
  s.text("assertion failed: ");
  return s.text(reinterpret_cast<const char *>(params[0]));
}

astra_outcome_t checkTrue(const astra_call_t *call, const astra_arg_t *args,
                          const int64_t *params) {
  Nest<1> nest = nestOf<1>(args);
  int64_t done = 0;
  bool holds = nest.visit(
      0, nest.size(), [&](const int64_t (&offset)[1], int64_t count) {
        const Bool *c = static_cast<const Bool *>(args[0].data) + offset[0];
        for (int64_t i = 0; i < count; ++i, ++done)
          if (!c[i * nest.innerStride(0)].value)
            return false;
        return true;
      });
  if (holds)
    return ASTRA_OK;
  Sentence s;
  begin(s, params);
  if (args[0].rank)
    s.text(" is false at ").index(args[0], done);
  return call->api->fail(call, ASTRA_ERROR_ASSERTION, s.get());
}

/// Finds the first pair that is not equal(a, b) and fails with it.
template <class T, class Equal>
astra_outcome_t checkPairs(const astra_call_t *call, const astra_arg_t *args,
                           const int64_t *params, const char *relation,
                           Equal equal) {
  Nest<2> nest = nestOf<2>(args);
  int64_t done = 0;
  T a, b;
  bool holds = nest.visit(
      0, nest.size(), [&](const int64_t (&offset)[2], int64_t count) {
        for (int64_t i = 0; i < count; ++i, ++done) {
          a = static_cast<const T *>(
              args[0].data)[offset[0] + i * nest.innerStride(0)];
          b = static_cast<const T *>(
              args[1].data)[offset[1] + i * nest.innerStride(1)];
          if (!equal(a, b))
            return false;
        }
        return true;
      });
  if (holds)
    return ASTRA_OK;
  Sentence s;
  begin(s, params).text(": ");
  if (args[0].rank)
    s.text("at ").index(args[0], done).text(", ");
  show(s, a);
  s.text(relation);
  show(s, b);
  return call->api->fail(call, ASTRA_ERROR_ASSERTION, s.get());
}

template <class T> bool sameBits(T a, T b) {
  return canonicalBits(a) == canonicalBits(b);
}

template <class T>
astra_outcome_t checkEqual(const astra_call_t *call, const astra_arg_t *args,
                           const int64_t *params) {
  return checkPairs<T>(call, args, params, " is not ", sameBits<T>);
}

/// The comparison runs in f64. An infinite difference is never close, also
/// where b itself is infinite.
template <class T>
astra_outcome_t checkClose(const astra_call_t *call, const astra_arg_t *args,
                           const int64_t *params) {
  double rtol = *static_cast<const double *>(args[2].data);
  double atol = *static_cast<const double *>(args[3].data);
  Sentence relation;
  relation.text(" is not within rtol ").real(rtol, 6);
  relation.text(", atol ").real(atol, 6).text(" of ");
  return checkPairs<T>(call, args, params, relation.get(), [=](T a, T b) {
    double x = double(widen(a)), y = double(widen(b));
    double difference = Op_abs::apply(x - y);
    return sameBits(a, b) ||
           (difference <= atol + rtol * Op_abs::apply(y) &&
            difference < std::numeric_limits<double>::infinity());
  });
}

} // namespace

#define CHECK(op, dtype, version, doc)                                         \
  ASTRA_DEFINE_REF(op, dtype, checkTrue(call, args, params))
#define CHECK_EQ(op, dtype, version, doc)                                      \
  ASTRA_DEFINE_REF(op, dtype, checkEqual<T_##dtype>(call, args, params))
#define CHECK_CLOSE(op, dtype, version, doc)                                   \
  ASTRA_DEFINE_REF(op, dtype, checkClose<T_##dtype>(call, args, params))
#include "kernels/kernels.def"
