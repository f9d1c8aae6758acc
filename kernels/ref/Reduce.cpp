// The normative reductions: for each element of the result, its elements of x
// in row-major order, combined as docs/arithmetic.md says.
#include "kernels/Call.h"
#include "kernels/Canonical.h"
#include "kernels/Ops.h"
#include "kernels/View.h"

using namespace astra;

namespace {

// A folder takes the elements in order and gives the result.
template <class T> struct Fold_sum {
  CanonicalFold<Accumulator<T>, Plus> fold;
  void add(T x) { fold.add(toAccumulator(x)); }
  T result() { return fromAccumulator<T>(fold.result()); }
};
template <class T> struct Fold_prod {
  CanonicalFold<Accumulator<T>, Times> fold;
  void add(T x) { fold.add(toAccumulator(x)); }
  T result() { return fromAccumulator<T>(fold.result()); }
};
template <class T> struct Fold_norm {
  CanonicalFold<Compute<T>, Plus> fold;
  void add(T x) { fold.add(widen(x) * widen(x)); }
  T result() { return narrow<T>(math::sqrt(fold.result())); }
};
template <class T, class Op> struct FoldExtreme {
  Compute<T> best{};
  bool empty = true;
  void add(T x) {
    best = empty ? widen(x) : Op::apply(best, widen(x));
    empty = false;
  }
  T result() { return narrow<T>(best); }
};
template <class T> struct Fold_max : FoldExtreme<T, Op_maximum> {};
template <class T> struct Fold_min : FoldExtreme<T, Op_minimum> {};
template <class T> struct Fold_any {
  uint8_t held = 0;
  void add(T x) { held |= x.value != 0; }
  T result() { return {held}; }
};
template <class T> struct Fold_all {
  uint8_t held = 1;
  void add(T x) { held &= x.value != 0; }
  T result() { return {held}; }
};

template <class T, class Fold>
T foldOf(const T *x, const Nest<1> &nest, Fold fold) {
  int64_t stride = nest.innerStride(0);
  nest.visit(0, nest.size(), [&](const int64_t (&offset)[1], int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      fold.add(x[offset[0] + i * stride]);
    return true;
  });
  return fold.result();
}

/// Calls f(x, out) with where each reduction starts and where its result goes.
template <class T, class Out, class F>
void forEachResult(const astra_arg_t *args, const Nest<2> &kept, F f) {
  kept.visit(0, kept.size(), [&](const int64_t (&offset)[2], int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      f(static_cast<const T *>(args[0].data) + offset[0] +
            i * kept.innerStride(0),
        static_cast<Out *>(args[1].data) + offset[1] + i * kept.innerStride(1));
    return true;
  });
}

template <class Fold, class T>
astra_outcome_t reduce(const astra_arg_t *args, const int64_t *params) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  forEachResult<T, T>(args, r.kept, [&](const T *x, T *out) {
    *out = foldOf(x, r.reduced, Fold());
  });
  return ASTRA_OK;
}

template <class Fold, class T>
astra_outcome_t reduceSome(const astra_call_t *call, const astra_arg_t *args,
                           const int64_t *params, const char *name) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  if (r.reduced.size() == 0 && r.kept.size() != 0)
    return failOverNothing(call, name);
  return reduce<Fold, T>(args, params);
}

/// m + log(sum of exp(x - m)) with m the largest; an infinite m is the result.
template <class T> T logSumExpOf(const T *x, const Nest<1> &nest) {
  using C = Compute<T>;
  if (nest.size() == 0)
    return narrow<T>(-std::numeric_limits<C>::infinity());
  C m = widen(foldOf(x, nest, Fold_max<T>()));
  if (Op_is_inf::apply(m).value)
    return narrow<T>(m);
  struct {
    CanonicalFold<C, Plus> fold;
    C m;
    void add(T e) { fold.add(math::exp(widen(e) - m)); }
    C result() { return fold.result(); }
  } exponentials{{}, m};
  nest.visit(0, nest.size(), [&](const int64_t (&offset)[1], int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      exponentials.add(x[offset[0] + i * nest.innerStride(0)]);
    return true;
  });
  return narrow<T>(m + math::log(exponentials.result()));
}

template <class T>
astra_outcome_t logSumExp(const astra_arg_t *args, const int64_t *params) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  forEachResult<T, T>(args, r.kept, [&](const T *x, T *out) {
    *out = logSumExpOf(x, r.reduced);
  });
  return ASTRA_OK;
}

template <bool largest, class T>
int32_t argOf(const T *x, int64_t extent, int64_t stride) {
  int64_t best = 0;
  for (int64_t i = 1; i < extent && !isNan(x[best * stride]); ++i) {
    auto a = widen(x[i * stride]), b = widen(x[best * stride]);
    if (isNan(a) || (largest ? a > b : a < b))
      best = i;
  }
  return int32_t(best);
}

template <bool largest, class T>
astra_outcome_t argReduce(const astra_call_t *call, const astra_arg_t *args,
                          int64_t axis, const char *name) {
  Reduction r = reductionOf(args[0], args[1], &axis, 1);
  int64_t extent = args[0].shape[axis], stride = args[0].strides[axis];
  if (r.kept.size() == 0)
    return ASTRA_OK;
  if (extent == 0)
    return failOverNothing(call, name);
  if (extent > INT32_MAX)
    return call->api->fail(call, ASTRA_ERROR_OVERFLOW,
                           "an index of argmax or argmin does not fit in i32");
  forEachResult<T, int32_t>(args, r.kept, [&](const T *x, int32_t *out) {
    *out = argOf<largest>(x, extent, stride);
  });
  return ASTRA_OK;
}

} // namespace

#define KERNEL_sum(dtype) reduce<Fold_sum<T_##dtype>, T_##dtype>(args, params)
#define KERNEL_prod(dtype) reduce<Fold_prod<T_##dtype>, T_##dtype>(args, params)
#define KERNEL_norm(dtype) reduce<Fold_norm<T_##dtype>, T_##dtype>(args, params)
#define KERNEL_any(dtype) reduce<Fold_any<T_##dtype>, T_##dtype>(args, params)
#define KERNEL_all(dtype) reduce<Fold_all<T_##dtype>, T_##dtype>(args, params)
#define KERNEL_max(dtype)                                                      \
  reduceSome<Fold_max<T_##dtype>, T_##dtype>(call, args, params, "max")
#define KERNEL_min(dtype)                                                      \
  reduceSome<Fold_min<T_##dtype>, T_##dtype>(call, args, params, "min")
#define KERNEL_logsumexp(dtype) logSumExp<T_##dtype>(args, params)
#define KERNEL_argmax(dtype)                                                   \
  argReduce<true, T_##dtype>(call, args, params[0], "argmax")
#define KERNEL_argmin(dtype)                                                   \
  argReduce<false, T_##dtype>(call, args, params[0], "argmin")

#define REDUCE(op, dtype, version, doc)                                        \
  ASTRA_DEFINE_REF(op, dtype, KERNEL_##op(dtype))
#define ARG_REDUCE(op, dtype, version, doc)                                    \
  ASTRA_DEFINE_REF(op, dtype, KERNEL_##op(dtype))
#include "kernels/kernels.def"
