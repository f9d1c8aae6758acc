// The orders of addition and multiplication that docs/arithmetic.md fixes:
// the canonical sum and product, the canonical scan, and the sums of products.
// Written to be read beside that text; optimised variants have their own code
// and are tested against kernels made of these.
#ifndef ASTRA_KERNELS_CANONICAL_H
#define ASTRA_KERNELS_CANONICAL_H

#include "kernels/Isa.h"

ASTRA_KERNELS_BEGIN

struct Plus {
  template <class A> static A identity() { return A(0); }
  template <class A> static A apply(A a, A b) { return A(a + b); }
};
struct Times {
  template <class A> static A identity() { return A(1); }
  template <class A> static A apply(A a, A b) { return A(a * b); }
};

/// Combines values by a binary tree of adjacent pairs, an odd tail passing up a
/// level, as they come: `pending[l]` is a complete subtree of 2^l values.
template <class A, class Op> class PairTree {
public:
  void add(A value) {
    int level = 0;
    for (uint64_t bits = count++; bits & 1; bits >>= 1)
      value = Op::template apply<A>(pending[level++], value);
    pending[level] = value;
  }
  A result() const {
    if (!count)
      return Op::template identity<A>();
    int level = __builtin_ctzll(count);
    A value = pending[level];
    for (++level; count >> level; ++level)
      if (count >> level & 1)
        value = Op::template apply<A>(pending[level], value);
    return value;
  }

private:
  uint64_t count = 0;
  A pending[64];
};

/// The canonical sum (Op = Plus) or product (Op = Times) of values in order.
template <class A, class Op> class CanonicalFold {
public:
  static constexpr int chunk = 1024, lanes = 32;

  CanonicalFold() { clear(); }
  void add(A value) {
    A &lane = lane_[used++ % lanes];
    lane = Op::template apply<A>(lane, value);
    if (used == chunk)
      flush();
  }
  A result() {
    if (used)
      flush();
    return tree.result();
  }

private:
  void clear() {
    used = 0;
    for (A &lane : lane_)
      lane = Op::template identity<A>();
  }
  void flush() {
    for (int h = lanes / 2; h; h /= 2)
      for (int i = 0; i < h; ++i)
        lane_[i] = Op::template apply<A>(lane_[i], lane_[i + h]);
    tree.add(lane_[0]);
    clear();
  }

  int used;
  A lane_[lanes];
  PairTree<A, Op> tree;
};

/// Elements of scratch that a canonical scan of n values needs.
inline int64_t scanScratch(int64_t n) {
  int64_t total = 0;
  while (n > 32)
    total += n = (n + 31) / 32 - 1;
  return total;
}

/// The canonical scan of x[0..n) in place.
template <class Op, class A>
inline void canonicalScan(A *x, int64_t n, A *scratch) {
  for (int64_t block = 0; block < n; block += 32) {
    int64_t size = n - block < 32 ? n - block : 32;
    A *y = x + block;
    for (int64_t d = 1; d < 32; d *= 2)
      for (int64_t i = size - 1; i >= d; --i)
        y[i] = Op::template apply<A>(y[i - d], y[i]);
  }
  if (n <= 32)
    return;
  int64_t totals = (n + 31) / 32 - 1;
  for (int64_t b = 0; b < totals; ++b)
    scratch[b] = x[32 * b + 31];
  canonicalScan<Op>(scratch, totals, scratch + totals);
  for (int64_t i = 32; i < n; ++i)
    x[i] = Op::template apply<A>(scratch[i / 32 - 1], x[i]);
}

/// The canonical sum of products, pair by pair in the order of k. FMA is the
/// fused multiply-add of the type, or the wrapping one of integers.
template <class A> class CanonicalDot {
public:
  static constexpr int chain = 256, fold = 16;

  template <class Fma> void add(A a, A b, Fma fma) {
    partial = fma(a, b, partial);
    if (++inChain == chain)
      endChain();
  }
  A result() {
    if (inChain)
      endChain();
    if (chains)
      endFold();
    return tree.result();
  }

private:
  void endChain() {
    sum = Plus::apply<A>(sum, partial);
    partial = A(0);
    inChain = 0;
    if (++chains == fold)
      endFold();
  }
  void endFold() {
    tree.add(sum);
    sum = A(0);
    chains = 0;
  }

  int inChain = 0, chains = 0;
  A partial = A(0), sum = A(0);
  PairTree<A, Plus> tree;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CANONICAL_H
