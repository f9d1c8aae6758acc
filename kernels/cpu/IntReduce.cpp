// Reductions of integers and bools. Any order gives the same bits, so a line is
// one vectorised loop, and where the lines are short or the axis that stays is
// the consecutive one, many lines go side by side.
#include "kernels/Ops.h"
#include "kernels/cpu/Tiles.h"

using namespace astra;

namespace {

struct Sum {
  template <class T> static constexpr T start = 0;
  template <class T> ASTRA_INLINE static T apply(T a, T b) {
    return Op_add::apply(a, b);
  }
};
struct Product {
  template <class T> static constexpr T start = 1;
  template <class T> ASTRA_INLINE static T apply(T a, T b) {
    return Op_mul::apply(a, b);
  }
};
struct Largest {
  template <class T>
  static constexpr T start = std::numeric_limits<T>::lowest();
  template <class T> ASTRA_INLINE static T apply(T a, T b) {
    return a > b ? a : b;
  }
};
struct Smallest {
  template <class T> static constexpr T start = std::numeric_limits<T>::max();
  template <class T> ASTRA_INLINE static T apply(T a, T b) {
    return a < b ? a : b;
  }
};
// Of bools as bytes.
struct Any {
  template <class T> static constexpr T start = 0;
  template <class T> ASTRA_INLINE static T apply(T a, T b) {
    return T(a | T(b != 0));
  }
};
struct All {
  template <class T> static constexpr T start = 1;
  template <class T> ASTRA_INLINE static T apply(T a, T b) {
    return T(a & T(b != 0));
  }
};

template <class Op, class T>
T reduceRun(const T *x, int64_t stride, int64_t n) {
  T result = Op::template start<T>;
  if (stride == 1) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
      result = Op::apply(result, x[i]);
    return result;
  }
  for (int64_t i = 0; i < n; ++i)
    result = Op::apply(result, x[i * stride]);
  return result;
}

template <class Op, class T>
ASTRA_SHARED T reduceElements(const T *x, const Nest<1> &nest, int64_t begin,
                              int64_t end) {
  T result = Op::template start<T>;
  nest.walk(begin, end, [&](const int64_t (&offset)[1], int64_t count) {
    result = Op::apply(
        result, reduceRun<Op>(x + offset[0], nest.innerStride(0), count));
    return true;
  });
  return result;
}

/// One result from all elements, on all threads.
template <class Op, class T>
astra_outcome_t reduceLong(const astra_call_t *call, const T *x,
                           const Nest<1> &nest, T *out) {
  int64_t pieces = (nest.size() + elementGrain - 1) / elementGrain;
  Scratch<T> parts(call, pieces);
  if (!parts)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  parallelFor(call, pieces, 4, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      int64_t from = p * elementGrain, to = from + elementGrain;
      parts.get()[p] = reduceElements<Op>(x, nest, from,
                                          to < nest.size() ? to : nest.size());
    }
  });
  *out = reduceRun<Op>(parts.get(), 1, pieces);
  return ASTRA_OK;
}

constexpr int64_t reduceWidth = 256;

/// `columns` lines whose elements are `apart` from one another.
template <class Op, class T>
ASTRA_SHARED void reduceColumns(const T *x, int64_t apart, int64_t columns,
                                const Nest<1> &nest, T *out, int64_t stride) {
  alignas(64) T result[reduceWidth], row[reduceWidth];
  for (T &value : result)
    value = Op::template start<T>;
  nest.walk(0, nest.size(), [&](const int64_t (&offset)[1], int64_t rows) {
    for (int64_t r = 0; r < rows; ++r) {
      const T *from = x + offset[0] + r * nest.innerStride(0);
      if (apart != 1) {
        loadRun(from, apart, columns, row);
        from = row;
      }
      ASTRA_VECTOR_LOOP
      for (int64_t i = 0; i < columns; ++i)
        result[i] = Op::apply(result[i], from[i]);
    }
    return true;
  });
  storeRun(result, columns, out, stride);
}

template <class Op, class T>
astra_outcome_t reduce(const astra_call_t *call, const astra_arg_t *args,
                       const int64_t *params) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  const Nest<2> &kept = r.kept;
  const T *x = static_cast<const T *>(args[0].data);
  T *out = static_cast<T *>(args[1].data);
  int64_t n = r.reduced.size();
  if (kept.size() == 1 && n >= 4 * elementGrain)
    return reduceLong<Op>(call, x, r.reduced, out);
  int64_t si = kept.innerStride(0), so = kept.innerStride(1);
  bool sideBySide =
      kept.innerExtent() >= 16 &&
      (si == 1 ? r.reduced.innerStride(0) != 1 || n < 64 : n < 32);
  auto run = [&](const int64_t (&offset)[2], int64_t count) {
    for (int64_t i = 0; i < count; i += sideBySide ? reduceWidth : 1) {
      const T *from = x + offset[0] + i * si;
      T *to = out + offset[1] + i * so;
      if (sideBySide)
        reduceColumns<Op>(from, si,
                          count - i < reduceWidth ? count - i : reduceWidth,
                          r.reduced, to, so);
      else
        *to = reduceElements<Op>(from, r.reduced, 0, n);
    }
    return true;
  };
  parallelFor(call, kept.size(), elementGrain / (n + 16) + 1,
              [&](int64_t begin, int64_t end) { kept.visit(begin, end, run); });
  return ASTRA_OK;
}

template <class Op, class T>
astra_outcome_t reduceSome(const astra_call_t *call, const astra_arg_t *args,
                           const int64_t *params, const char *name) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  if (r.reduced.size() == 0 && r.kept.size() != 0)
    return call->api->fail(call, ASTRA_ERROR_INVALID_ARGUMENT,
                           Sentence()
                               .text(name)
                               .text(" over nothing: a reduced extent is 0")
                               .get());
  return reduce<Op, T>(call, args, params);
}

} // namespace

#define DEFINE(op, dtype, ...)                                                 \
  ASTRA_DEFINE_VARIANT(op, dtype, lanes, __VA_ARGS__)
#define FOR_INT(dtype)                                                         \
  DEFINE(sum, dtype, reduce<Sum, BitsOf<T_##dtype>>(call, args, params))       \
  DEFINE(prod, dtype, reduce<Product, BitsOf<T_##dtype>>(call, args, params))  \
  DEFINE(max, dtype,                                                           \
         reduceSome<Largest, T_##dtype>(call, args, params, "max"))            \
  DEFINE(min, dtype, reduceSome<Smallest, T_##dtype>(call, args, params, "min"))
#include "kernels/cpu/ForNumbers.h"
DEFINE(any, bool, reduce<Any, uint8_t>(call, args, params))
DEFINE(all, bool, reduce<All, uint8_t>(call, args, params))
