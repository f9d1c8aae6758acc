// Drives an elementwise operation over strided views in tiles: a block function
// works on consecutive elements in the type that they compute in; what is not
// consecutive, is broadcast or is f16 or bf16 goes through buffers in cache. So
// each operation has one vectorised loop, whatever the layout.
#ifndef ASTRA_KERNELS_CPU_TILES_H
#define ASTRA_KERNELS_CPU_TILES_H

#include "kernels/Call.h"
#include "kernels/Types.h"
#include "kernels/View.h"

// Iterations are independent: an output is a view of its own or exactly that of
// an input.
#define ASTRA_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#define ASTRA_SCALAR_LOOP                                                      \
  _Pragma("clang loop vectorize(disable) unroll(disable)")

ASTRA_KERNELS_BEGIN

constexpr int64_t tileSize = 512;
/// Elements of elementwise work that are worth a thread.
constexpr int64_t elementGrain = 32768;

/// Widens n consecutive elements.
template <class T>
ASTRA_INLINE inline void widenRun(const T *from, int64_t n, Compute<T> *to) {
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    to[i] = widen(from[i]);
}

/// Copies a run of n elements, widened, to consecutive memory.
template <class T>
ASTRA_SHARED inline void loadRun(const T *from, int64_t stride, int64_t n,
                                 Compute<T> *to) {
  if (stride == 1) {
    widenRun(from, n, to);
  } else if (stride == 0) {
    Compute<T> value = widen(*from);
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
      to[i] = value;
  } else {
    for (int64_t i = 0; i < n; ++i)
      to[i] = widen(from[i * stride]);
  }
}

template <class T>
ASTRA_SHARED inline void storeRun(const Compute<T> *from, int64_t n, T *to,
                                  int64_t stride) {
  if (stride == 1) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
      to[i] = narrow<T>(from[i]);
  } else {
    for (int64_t i = 0; i < n; ++i)
      to[i * stride] = narrow<T>(from[i]);
  }
}

/// An elementwise operation on N inputs of one type. A unary block ignores b.
template <int N, class In, class Out> class Elementwise {
public:
  using Block = void (*)(const Compute<In> *a, const Compute<In> *b,
                         Compute<Out> *out, int64_t n, int64_t parameter);

  Elementwise(const astra_arg_t *args, Block block, int64_t parameter)
      : nest(nestOf<N + 1>(args)), out(static_cast<Out *>(args[N].data)),
        block(block), parameter(parameter) {
    for (int i = 0; i < N; ++i)
      in[i] = static_cast<const In *>(args[i].data);
  }

  astra_outcome_t run(const astra_call_t *call) const {
    parallelFor(
        call, nest.size(), elementGrain, [this](int64_t begin, int64_t end) {
          // One run, however short, needs no tile to be collected in.
          if (nest.innerExtent() >= 64 || nest.innerExtent() == nest.size())
            runLong(begin, end);
          else
            runShort(begin, end);
        });
    return ASTRA_OK;
  }

private:
  static constexpr bool plainIn = !isSmallFloat<In>;
  static constexpr bool plainOut = !isSmallFloat<Out>;

  /// Runs along the innermost axis, each cut into tiles where a buffer is
  /// needed.
  void runLong(int64_t begin, int64_t end) const {
    alignas(64) Compute<In> buffer[N][tileSize];
    alignas(64) Compute<Out> result[tileSize];
    bool outDirect = plainOut && nest.innerStride(N) == 1,
         allDirect = outDirect;
    for (int i = 0; i < N; ++i)
      allDirect &= plainIn && nest.innerStride(i) == 1;
    nest.visit(begin, end, [&](const int64_t (&offset)[N + 1], int64_t count) {
      int64_t step = allDirect || count < tileSize ? count : tileSize;
      const Compute<In> *operand[N];
      for (int i = 0; i < N; ++i)
        if (nest.innerStride(i) == 0)
          loadRun(in[i] + offset[i], 0, step, buffer[i]);
      for (int64_t at = 0; at < count; at += step) {
        int64_t n = count - at < step ? count - at : step;
        for (int i = 0; i < N; ++i)
          operand[i] = take(i, offset[i], at, n, buffer[i]);
        Out *to = out + offset[N] + at * nest.innerStride(N);
        block(operand[0], operand[N - 1], place(to, outDirect, result), n,
              parameter);
        if (!outDirect)
          storeRun(result, n, to, nest.innerStride(N));
      }
      return true;
    });
  }

  const Compute<In> *take(int i, int64_t offset, int64_t at, int64_t n,
                          Compute<In> *buffer) const {
    int64_t stride = nest.innerStride(i);
    const In *from = in[i] + offset + at * stride;
    if constexpr (plainIn)
      if (stride == 1)
        return from;
    if (stride != 0)
      loadRun(from, stride, n, buffer);
    return buffer;
  }

  static Compute<Out> *place(Out *to, bool direct, Compute<Out> *result) {
    if constexpr (plainOut)
      return direct ? to : result;
    else
      return result;
  }

  /// As loadRun; for a few elements its call costs more than they do.
  static void loadShort(const In *from, int64_t stride, int64_t n,
                        Compute<In> *to) {
    if (n > 16)
      return loadRun(from, stride, n, to);
    ASTRA_SCALAR_LOOP
    for (int64_t i = 0; i < n; ++i)
      to[i] = widen(from[i * stride]);
  }

  /// Short runs are collected until a tile is full.
  void runShort(int64_t begin, int64_t end) const {
    alignas(64) Compute<In> buffer[N][tileSize];
    alignas(64) Compute<Out> result[tileSize];
    for (int64_t at = begin; at < end; at += tileSize) {
      int64_t n = end - at < tileSize ? end - at : tileSize, filled = 0;
      nest.visit(at, at + n,
                 [&](const int64_t (&offset)[N + 1], int64_t count) {
                   for (int i = 0; i < N; ++i)
                     loadShort(in[i] + offset[i], nest.innerStride(i), count,
                               buffer[i] + filled);
                   filled += count;
                   return true;
                 });
      block(buffer[0], buffer[N - 1], result, n, parameter);
      filled = 0;
      nest.visit(at, at + n,
                 [&](const int64_t (&offset)[N + 1], int64_t count) {
                   storeRun(result + filled, count, out + offset[N],
                            nest.innerStride(N));
                   filled += count;
                   return true;
                 });
    }
  }

  Nest<N + 1> nest;
  const In *in[N];
  Out *out;
  Block block;
  int64_t parameter;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_TILES_H
