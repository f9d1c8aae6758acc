// The fold of a row of a fused kernel, chunk by chunk: the canonical sum and
// product, the maximum and minimum, of each float type. The order is that of
// kernels/Canonical.h.
#ifndef ASTRA_KERNELS_FUSEDFOLD_H
#define ASTRA_KERNELS_FUSEDFOLD_H

#include "kernels/cpu/Extreme.h"

ASTRA_KERNELS_BEGIN

constexpr int64_t foldChunkSize = CanonicalFold<float, Plus>::chunk;

/// What a chunk folds to, in the type that its elements are folded in.
class Accumulated {
public:
  template <class C> void set(C value) {
    std::memcpy(bytes, &value, sizeof(C));
  }
  template <class C> C get() const {
    C value;
    std::memcpy(&value, bytes, sizeof(C));
    return value;
  }

private:
  char bytes[8];
};

/// The state of one fold along a row.
class FoldState {
public:
  /// The value of one chunk: n <= foldChunkSize elements, n > 0.
  static Accumulated foldChunk(const astra_slot_desc_t &slot,
                               const void *elements, int64_t n) {
    Accumulated value;
    dispatch(slot.dtype, [&](auto one) {
      using T = decltype(one);
      Compute<T> buffer[foldChunkSize];
      const auto *from = static_cast<const T *>(elements);
      value.set(foldElements(slot.kind, widenAll(from, n, buffer), n));
    });
    return value;
  }

  /// The value of the next chunk; only the last chunk is shorter.
  void add(const astra_slot_desc_t &slot, const Accumulated &value) {
    dispatch(slot.dtype, [&](auto one) {
      addChunk(slot.kind, value.get<Compute<decltype(one)>>());
    });
  }

  /// Writes the value of the row.
  void finish(const astra_slot_desc_t &slot, void *to) {
    dispatch(slot.dtype, [&](auto one) {
      using T = decltype(one);
      *static_cast<T *>(to) = narrow<T>(result<Compute<T>>(slot.kind));
    });
  }

private:
  template <class F> static void dispatch(uint32_t dtype, F f) {
    if (dtype == ASTRA_F32)
      f(float());
    else if (dtype == ASTRA_F64)
      f(double());
    else if (dtype == ASTRA_F16)
      f(F16());
    else
      f(BF16());
  }

  template <class T>
  static const Compute<T> *widenAll(const T *from, int64_t n,
                                    Compute<T> *buffer) {
    if constexpr (!isSmallFloat<T>) {
      return from;
    } else {
      loadRun(from, 1, n, buffer);
      return buffer;
    }
  }

  template <class C>
  static C foldElements(uint32_t kind, const C *x, int64_t n) {
    switch (kind) {
    case ASTRA_SLOT_SUM:
      return astra::foldChunk<Plus>(x, n);
    case ASTRA_SLOT_PROD:
      return astra::foldChunk<Times>(x, n);
    case ASTRA_SLOT_MAX:
      return extremeOf<true>(x, n, x[0]);
    default:
      return extremeOf<false>(x, n, x[0]);
    }
  }

  template <class C> void addChunk(uint32_t kind, C value) {
    State<C> &s = state<C>();
    if (kind == ASTRA_SLOT_SUM)
      s.sum.add(value);
    else if (kind == ASTRA_SLOT_PROD)
      s.product.add(value);
    else if (isEmpty)
      s.extreme = value;
    else if (kind == ASTRA_SLOT_MAX)
      s.extreme = Extreme<true>::apply(s.extreme, value);
    else
      s.extreme = Extreme<false>::apply(s.extreme, value);
    isEmpty = false;
  }

  template <class C> C result(uint32_t kind) {
    State<C> &s = state<C>();
    return kind == ASTRA_SLOT_SUM    ? s.sum.result()
           : kind == ASTRA_SLOT_PROD ? s.product.result()
                                     : s.extreme;
  }

  template <class C> struct State {
    PairTree<C, Plus> sum;
    PairTree<C, Times> product;
    C extreme = C(0);
  };
  template <class C> State<C> &state() {
    if constexpr (std::is_same_v<C, double>)
      return wide;
    else
      return narrowState;
  }

  State<float> narrowState;
  State<double> wide;
  bool isEmpty = true;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDFOLD_H
