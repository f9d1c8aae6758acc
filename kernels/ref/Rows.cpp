// The normative kernels along one axis: softmax, scans and sorting. Each line
// is computed by itself.
#include "kernels/Call.h"
#include "kernels/Canonical.h"
#include "kernels/Ops.h"
#include "kernels/View.h"

using namespace astra;

namespace {

/// Calls f(in, out) with the start of each line.
template <class T, class Out, class F>
void forEachLine(const astra_arg_t *args, const Lines &lines, F f) {
  const Nest<2> &starts = lines.starts;
  if (lines.extent == 0)
    return;
  starts.visit(0, starts.size(),
               [&](const int64_t (&offset)[2], int64_t count) {
                 for (int64_t i = 0; i < count; ++i)
                   f(static_cast<const T *>(args[0].data) + offset[0] +
                         i * starts.innerStride(0),
                     static_cast<Out *>(args[1].data) + offset[1] +
                         i * starts.innerStride(1));
                 return true;
               });
}

/// The largest element and the canonical sum of exp(x - largest).
template <class T> struct SoftmaxLine {
  using C = Compute<T>;
  C largest, sum;

  SoftmaxLine(const T *x, int64_t extent, int64_t stride) {
    largest = widen(x[0]);
    for (int64_t i = 1; i < extent; ++i)
      largest = Op_maximum::apply(largest, widen(x[i * stride]));
    CanonicalFold<C, Plus> fold;
    for (int64_t i = 0; i < extent; ++i)
      fold.add(math::exp(widen(x[i * stride]) - largest));
    sum = fold.result();
  }
  /// All elements are -infinity.
  bool masked() const { return largest == -std::numeric_limits<C>::infinity(); }
  C softmax(T x) const {
    return masked() ? C(0) : math::exp(widen(x) - largest) / sum;
  }
  C logSoftmax(T x) const {
    return masked() ? largest : (widen(x) - largest) - math::log(sum);
  }
};

template <class T>
astra_outcome_t softmax(const astra_arg_t *args, int64_t axis) {
  Lines lines = linesOf(args[0], args[1], axis);
  forEachLine<T, T>(args, lines, [&](const T *x, T *out) {
    SoftmaxLine<T> line(x, lines.extent, lines.strideIn);
    for (int64_t i = 0; i < lines.extent; ++i)
      out[i * lines.strideOut] = narrow<T>(line.softmax(x[i * lines.strideIn]));
  });
  return ASTRA_OK;
}

template <class T>
astra_outcome_t logSoftmax(const astra_arg_t *args, int64_t axis) {
  Lines lines = linesOf(args[0], args[1], axis);
  forEachLine<T, T>(args, lines, [&](const T *x, T *out) {
    SoftmaxLine<T> line(x, lines.extent, lines.strideIn);
    for (int64_t i = 0; i < lines.extent; ++i)
      out[i * lines.strideOut] =
          narrow<T>(line.logSoftmax(x[i * lines.strideIn]));
  });
  return ASTRA_OK;
}

template <class Op, class T>
astra_outcome_t cumulate(const astra_call_t *call, const astra_arg_t *args,
                         int64_t axis) {
  using A = Accumulator<T>;
  Lines lines = linesOf(args[0], args[1], axis);
  int64_t n = lines.extent;
  Scratch<A> line(call, n + scanScratch(n));
  if (!line)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  forEachLine<T, T>(args, lines, [&](const T *x, T *out) {
    for (int64_t i = 0; i < n; ++i)
      line.get()[i] = toAccumulator(x[i * lines.strideIn]);
    canonicalScan<Op>(line.get(), n, line.get() + n);
    for (int64_t i = 0; i < n; ++i)
      out[i * lines.strideOut] = fromAccumulator<T>(line.get()[i]);
  });
  return ASTRA_OK;
}

template <class T> bool sortsBefore(T a, T b) {
  if (isNan(a) || isNan(b))
    return !isNan(a) && isNan(b);
  return widen(a) < widen(b);
}

template <class T> struct Keyed {
  T key;
  int64_t index;
};

/// Stable merge sort, from pairs of runs of 1 upwards; gives back the sorted of
/// the two arrays.
template <class T> Keyed<T> *mergeSort(Keyed<T> *a, Keyed<T> *b, int64_t n) {
  for (int64_t run = 1; run < n; run *= 2) {
    for (int64_t start = 0; start < n; start += 2 * run) {
      int64_t middle = start + run < n ? start + run : n;
      int64_t end = middle + run < n ? middle + run : n;
      int64_t left = start, right = middle;
      for (int64_t i = start; i < end; ++i) {
        bool takeRight =
            right < end &&
            (left == middle || sortsBefore(a[right].key, a[left].key));
        b[i] = takeRight ? a[right++] : a[left++];
      }
    }
    Keyed<T> *swap = a;
    a = b;
    b = swap;
  }
  return a;
}

/// Sorts every line and hands its elements to emit(keyed, out).
template <class T, class Out, class Emit>
astra_outcome_t sortLines(const astra_call_t *call, const astra_arg_t *args,
                          int64_t axis, Emit emit) {
  Lines lines = linesOf(args[0], args[1], axis);
  int64_t n = lines.extent;
  Scratch<Keyed<T>> memory(call, 2 * n);
  if (!memory)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  forEachLine<T, Out>(args, lines, [&](const T *x, Out *out) {
    for (int64_t i = 0; i < n; ++i)
      memory.get()[i] = {x[i * lines.strideIn], i};
    const Keyed<T> *sorted = mergeSort(memory.get(), memory.get() + n, n);
    for (int64_t i = 0; i < n; ++i)
      out[i * lines.strideOut] = emit(sorted[i]);
  });
  return ASTRA_OK;
}

template <class T>
astra_outcome_t sort(const astra_call_t *call, const astra_arg_t *args,
                     int64_t axis) {
  return sortLines<T, T>(call, args, axis, [](Keyed<T> k) { return k.key; });
}

template <class T>
astra_outcome_t argSort(const astra_call_t *call, const astra_arg_t *args,
                        int64_t axis) {
  if (args[0].shape[axis] > INT32_MAX)
    return call->api->fail(call, ASTRA_ERROR_OVERFLOW,
                           "an index of argsort does not fit in i32");
  return sortLines<T, int32_t>(call, args, axis,
                               [](Keyed<T> k) { return int32_t(k.index); });
}

} // namespace

#define KERNEL_softmax(dtype) softmax<T_##dtype>(args, params[0])
#define KERNEL_log_softmax(dtype) logSoftmax<T_##dtype>(args, params[0])
#define KERNEL_cumsum(dtype) cumulate<Plus, T_##dtype>(call, args, params[0])
#define KERNEL_cumprod(dtype) cumulate<Times, T_##dtype>(call, args, params[0])
#define KERNEL_sort(dtype) sort<T_##dtype>(call, args, params[0])

#define ROWWISE(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_REF(op, dtype, KERNEL_##op(dtype))
#define ARGSORT(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_REF(op, dtype, argSort<T_##dtype>(call, args, params[0]))
#include "kernels/kernels.def"
