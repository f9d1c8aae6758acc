// Reductions of integers and bools. Any order gives the same bits, so a line is
// one vectorised loop, and where the lines are short or the axis that stays is
// the consecutive one, many lines go side by side. Each operation has two loops
// for each type; what drives them is shared by all types of a width.
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

/// A reduction of a type, as the drivers want it, which move values as bits:
/// one driver for all types of a width.
template <class K> struct Typed {
  K start;
  const char *name; // if to reduce nothing is an error
  /// `value` and n consecutive elements.
  K (*run)(K value, const K *x, int64_t n);
  /// Adds `rows` rows, `stride` apart, to the values of n columns.
  void (*addRows)(const K *x, int64_t stride, int64_t rows, int64_t n,
                  K *values);
};

template <class Op, class T>
BitsOf<T> run(BitsOf<T> value, const BitsOf<T> *x, int64_t n) {
  const T *from = reinterpret_cast<const T *>(x);
  T result = T(value);
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    result = Op::apply(result, from[i]);
  return BitsOf<T>(result);
}

template <class Op, class T>
void addRows(const BitsOf<T> *x, int64_t stride, int64_t rows, int64_t n,
             BitsOf<T> *values) {
  T *to = reinterpret_cast<T *>(values);
  for (; rows > 0; --rows, x += stride) {
    const T *from = reinterpret_cast<const T *>(x);
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
      to[i] = Op::apply(to[i], from[i]);
  }
}

template <class Op, class T, const char *name = nullptr>
constexpr Typed<BitsOf<T>> typed = {BitsOf<T>(Op::template start<T>), name,
                                    run<Op, T>, addRows<Op, T>};

constexpr int64_t reduceWidth = 256;

/// `value` and n elements that are not consecutive.
template <class K>
ASTRA_SHARED K collectRun(const Typed<K> &type, K value, const K *x,
                          int64_t stride, int64_t n) {
  alignas(64) K buffer[reduceWidth];
  for (int64_t i = 0; i < n; i += reduceWidth) {
    int64_t count = n - i < reduceWidth ? n - i : reduceWidth;
    loadRun(x + i * stride, stride, count, buffer);
    value = type.run(value, buffer, count);
  }
  return value;
}

template <class K>
K reduceElements(const Typed<K> &type, const K *x, const Nest<1> &nest,
                 int64_t begin, int64_t end) {
  K result = type.start;
  int64_t stride = nest.innerStride(0);
  nest.walk(begin, end, [&](const int64_t (&offset)[1], int64_t count) {
    const K *from = x + offset[0];
    result = stride == 1 || count == 1
                 ? type.run(result, from, count)
                 : collectRun(type, result, from, stride, count);
    return true;
  });
  return result;
}

/// One result from all elements, on all threads.
template <class K>
astra_outcome_t reduceLong(const astra_call_t *call, const Typed<K> &type,
                           const K *x, const Nest<1> &nest, K *out) {
  int64_t pieces = (nest.size() + elementGrain - 1) / elementGrain;
  Scratch<K> parts(call, pieces);
  if (!parts)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  parallelFor(call, pieces, 4, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      int64_t from = p * elementGrain, to = from + elementGrain;
      parts.get()[p] = reduceElements(type, x, nest, from,
                                      to < nest.size() ? to : nest.size());
    }
  });
  *out = type.run(type.start, parts.get(), pieces);
  return ASTRA_OK;
}

/// `columns` lines whose elements are `apart` from one another.
template <class K>
void reduceColumns(const Typed<K> &type, const K *x, int64_t apart,
                   int64_t columns, const Nest<1> &nest, K *out,
                   int64_t stride) {
  alignas(64) K result[reduceWidth], row[reduceWidth];
  for (int64_t i = 0; i < columns; ++i)
    result[i] = type.start;
  nest.visit(0, nest.size(), [&](const int64_t (&offset)[1], int64_t rows) {
    const K *from = x + offset[0];
    int64_t next = nest.innerStride(0);
    if (apart == 1) {
      type.addRows(from, next, rows, columns, result);
      return true;
    }
    for (int64_t r = 0; r < rows; ++r) {
      loadRun(from + r * next, apart, columns, row);
      type.addRows(row, 0, 1, columns, result);
    }
    return true;
  });
  storeRun(result, columns, out, stride);
}

template <class K>
ASTRA_SHARED astra_outcome_t reduce(const astra_call_t *call,
                                    const astra_arg_t *args,
                                    const int64_t *params,
                                    const Typed<K> &type) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  const Nest<2> &kept = r.kept;
  const K *x = static_cast<const K *>(args[0].data);
  K *out = static_cast<K *>(args[1].data);
  int64_t n = r.reduced.size();
  if (type.name && n == 0 && kept.size() != 0)
    return failOverNothing(call, type.name);
  if (kept.size() == 1 && n >= 4 * elementGrain)
    return reduceLong(call, type, x, r.reduced, out);
  int64_t si = kept.innerStride(0), so = kept.innerStride(1);
  bool sideBySide =
      kept.innerExtent() >= 16 &&
      (si == 1 ? r.reduced.innerStride(0) != 1 || n < 64 : n < 32);
  auto run = [&](const int64_t (&offset)[2], int64_t count) {
    for (int64_t i = 0; i < count; i += sideBySide ? reduceWidth : 1) {
      const K *from = x + offset[0] + i * si;
      K *to = out + offset[1] + i * so;
      if (sideBySide)
        reduceColumns(type, from, si,
                      count - i < reduceWidth ? count - i : reduceWidth,
                      r.reduced, to, so);
      else
        *to = reduceElements(type, from, r.reduced, 0, n);
    }
    return true;
  };
  parallelFor(call, kept.size(), elementGrain / (n + 16) + 1,
              [&](int64_t begin, int64_t end) { kept.visit(begin, end, run); });
  return ASTRA_OK;
}

constexpr char ofMax[] = "max", ofMin[] = "min";

} // namespace

#define DEFINE(op, dtype, ...)                                                 \
  ASTRA_DEFINE_VARIANT(op, dtype, lanes,                                       \
                       reduce(call, args, params, typed<__VA_ARGS__>))
#define FOR_INT(dtype)                                                         \
  DEFINE(sum, dtype, Sum, BitsOf<T_##dtype>)                                   \
  DEFINE(prod, dtype, Product, BitsOf<T_##dtype>)                              \
  DEFINE(max, dtype, Largest, T_##dtype, ofMax)                                \
  DEFINE(min, dtype, Smallest, T_##dtype, ofMin)
#include "kernels/cpu/ForNumbers.h"
DEFINE(any, bool, Any, uint8_t)
DEFINE(all, bool, All, uint8_t)
