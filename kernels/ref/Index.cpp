// The normative gather and scatter kernels. Indices are checked; an addition of
// several values to one place sums them canonically, in the order of the index
// arrays, before it adds them to x.
#include "kernels/Canonical.h"
#include "kernels/Indexing.h"
#include "kernels/Ops.h"

using namespace astra;

namespace {

/// Copies the elements of one view of a nest, the `source`, to the other.
template <class T>
void copySlice(const Nest<2> &nest, int source, const T *from, T *to) {
  int target = 1 - source;
  nest.visit(0, nest.size(), [&](const int64_t (&offset)[2], int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      to[offset[target] + i * nest.innerStride(target)] =
          from[offset[source] + i * nest.innerStride(source)];
    return true;
  });
}

template <class T>
astra_outcome_t gather(const astra_call_t *call, const astra_arg_t *args,
                       const int64_t *params) {
  const astra_arg_t &x = args[0], &out = args[1 + params[0]];
  Indexing indexing(x, out, args + 1, params);
  for (int64_t place = 0; place < indexing.size(); ++place) {
    int64_t destination = indexing.destination(place);
    if (destination < 0)
      return indexing.failAt(call, place);
    const T *from =
        static_cast<const T *>(x.data) + indexing.offsetOf(destination, x);
    T *to = static_cast<T *>(out.data) + indexing.takenOffset(place);
    copySlice(indexing.slice, 0, from, to);
  }
  return ASTRA_OK;
}

/// Copies x to out, unless they are one view.
template <class T> void copyAll(const astra_arg_t &x, const astra_arg_t &out) {
  if (x.data == out.data)
    return;
  const astra_arg_t pair[2] = {x, out};
  Nest<2> nest = nestOf<2>(pair);
  copySlice(nest, 0, static_cast<const T *>(x.data),
            static_cast<T *>(out.data));
}

template <class T>
astra_outcome_t scatterSet(const astra_call_t *call, const astra_arg_t *args,
                           const int64_t *params) {
  const astra_arg_t &value = args[1], &out = args[2 + params[0]];
  copyAll<T>(args[0], out);
  // The slice of `out` against that of `value`.
  Indexing indexing(out, value, args + 2, params);
  for (int64_t place = 0; place < indexing.size(); ++place) {
    int64_t destination = indexing.destination(place);
    if (destination < 0)
      return indexing.failAt(call, place);
    T *to = static_cast<T *>(out.data) + indexing.offsetOf(destination, out);
    const T *from =
        static_cast<const T *>(value.data) + indexing.takenOffset(place);
    copySlice(indexing.slice, 1, from, to);
  }
  return ASTRA_OK;
}

/// The places of an index array grouped by destination, ascending within each:
/// those of destination d are order[begin[d]] ... order[begin[d + 1] - 1].
struct Grouping {
  Scratch<int64_t> begin, order;

  Grouping(const astra_call_t *call, const Indexing &indexing)
      : begin(call, indexing.destinations() + 2), order(call, indexing.size()) {
  }

  /// Gives the first place out of range, or -1. A counting sort, hence stable.
  int64_t fill(const Indexing &indexing) {
    int64_t *start = begin.get(), destinations = indexing.destinations();
    for (int64_t d = 0; d < destinations + 2; ++d)
      start[d] = 0;
    for (int64_t place = 0; place < indexing.size(); ++place) {
      int64_t d = indexing.destination(place);
      if (d < 0)
        return place;
      ++start[d + 2];
    }
    for (int64_t d = 0; d < destinations; ++d)
      start[d + 2] += start[d + 1];
    for (int64_t place = 0; place < indexing.size(); ++place)
      order.get()[start[indexing.destination(place) + 1]++] = place;
    return -1;
  }
};

/// Adds to *to the canonical sum of the grouped values that start at `value`.
template <class T>
void addGroup(T *to, const T *value, const Indexing &indexing,
              const int64_t *first, const int64_t *last) {
  CanonicalFold<Accumulator<T>, Plus> sum;
  for (const int64_t *place = first; place != last; ++place)
    sum.add(toAccumulator(value[indexing.takenOffset(*place)]));
  *to = fromAccumulator<T>(
      Plus::apply<Accumulator<T>>(toAccumulator(*to), sum.result()));
}

template <class T>
astra_outcome_t scatterAdd(const astra_call_t *call, const astra_arg_t *args,
                           const int64_t *params) {
  const astra_arg_t &value = args[1], &out = args[2 + params[0]];
  copyAll<T>(args[0], out);
  Indexing indexing(out, value, args + 2, params);
  Grouping groups(call, indexing);
  if (!groups.begin || !groups.order)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  int64_t wrong = groups.fill(indexing);
  if (wrong >= 0)
    return indexing.failAt(call, wrong);
  const Nest<2> &slice = indexing.slice;
  for (int64_t d = 0; d < indexing.destinations(); ++d) {
    const int64_t *first = groups.order.get() + groups.begin.get()[d];
    const int64_t *last = groups.order.get() + groups.begin.get()[d + 1];
    if (first == last)
      continue;
    T *to = static_cast<T *>(out.data) + indexing.offsetOf(d, out);
    const T *from = static_cast<const T *>(value.data);
    slice.visit(0, slice.size(),
                [&](const int64_t (&offset)[2], int64_t count) {
                  for (int64_t i = 0; i < count; ++i)
                    addGroup(to + offset[0] + i * slice.innerStride(0),
                             from + offset[1] + i * slice.innerStride(1),
                             indexing, first, last);
                  return true;
                });
  }
  return ASTRA_OK;
}

} // namespace

#define GATHER(op, width, version, doc)                                        \
  ASTRA_DEFINE_REF(op, width, gather<T_##width>(call, args, params))
#define SCATTER_SET(op, width, version, doc)                                   \
  ASTRA_DEFINE_REF(op, width, scatterSet<T_##width>(call, args, params))
#define SCATTER_ADD(op, dtype, version, doc)                                   \
  ASTRA_DEFINE_REF(op, dtype, scatterAdd<T_##dtype>(call, args, params))
#include "kernels/kernels.def"
