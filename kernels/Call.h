// How a kernel uses the services of its call: scratch memory that gives itself
// back, errors with a composed sentence, and work cut over the threads.
#ifndef ASTRA_KERNELS_CALL_H
#define ASTRA_KERNELS_CALL_H

#include "kernels/Isa.h"

ASTRA_KERNELS_BEGIN

/// Scratch memory for `count` elements of T until the end of the block.
template <class T> class Scratch {
public:
  Scratch(const astra_call_t *call, int64_t count)
      : call(call), memory(static_cast<T *>(
                        call->api->scratch(call, count * int64_t(sizeof(T))))) {
  }
  ~Scratch() {
    if (memory)
      call->api->scratch_free(call, memory);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  explicit operator bool() const { return memory != nullptr; }
  T *get() const { return memory; }

private:
  const astra_call_t *call;
  T *memory;
};

/// A sentence built in place: never allocates, cut at the end of the buffer.
class Sentence {
public:
  Sentence &text(const char *s);
  Sentence &integer(int64_t value);
  Sentence &natural(uint64_t value);
  /// As many digits as tell any two values of the precision apart.
  Sentence &real(double value, int digits);
  /// "[1, 2]": the index of a row-major position in a shape.
  Sentence &index(const astra_arg_t &arg, int64_t position);
  const char *get() const { return buffer; }

private:
  char buffer[400] = {};
  unsigned used = 0;
};

/// The error of a reduction that has no value over nothing.
astra_outcome_t failOverNothing(const astra_call_t *call, const char *name);

/// Runs body(begin, end) over [0, count) on the call's threads, in multiples of
/// `grain`; on this one if there is not more than `worth`.
template <class Body>
inline void parallelFor(const astra_call_t *call, int64_t count, int64_t worth,
                        int64_t grain, const Body &body) {
  if (count <= 0)
    return;
  if (count <= worth) {
    body(int64_t(0), count);
    return;
  }
  call->api->parallel_for(
      call, count, grain,
      [](void *context, int64_t begin, int64_t end) {
        (*static_cast<const Body *>(context))(begin, end);
      },
      const_cast<Body *>(&body));
}

/// The same in pieces of what is worth a thread.
template <class Body>
inline void parallelFor(const astra_call_t *call, int64_t count, int64_t grain,
                        const Body &body) {
  parallelFor(call, count, grain, grain, body);
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CALL_H
