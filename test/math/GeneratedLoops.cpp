// See GeneratedLoops.h. Such loops meet code generation that loops over memory
// do not: a masked merge of bit operations on AVX-512 once lost its mask.
#include "GeneratedLoops.h"

#include "kernels/math/Elementary.h"
#include "kernels/math/ulp/Fingerprint.h"

using namespace astra;
using namespace astra::ulp;

#ifndef ASTRA_ENTRY
#define ASTRA_ENTRY generatedLoopsDiffer
#endif

namespace {

constexpr uint64_t Count = 1 << 13;

template <class T> struct Arguments {
  T x, y;
};
template <class T> ASTRA_MATH_FN Arguments<T> argumentsAt(uint64_t i) {
  uint64_t first = mix(i);
  return {argument(first, T(0)), argument(mix(first), T(0))};
}

#define ASTRA_UNARY(name, implementation)                                      \
  struct name##_function {                                                     \
    template <class T> ASTRA_MATH_FN T call(T x, T) { return math::name(x); }  \
  };
#define ASTRA_BINARY(name, implementation)                                     \
  struct name##_function {                                                     \
    template <class T> ASTRA_MATH_FN T call(T x, T y) {                        \
      return math::name(x, y);                                                 \
    }                                                                          \
  };
#include "kernels/math/Elementary.def"

template <class Function, class T>
__attribute__((noinline)) void loop(uint64_t count, T *out) {
  for (uint64_t i = 0; i < count; ++i) {
    Arguments<T> a = argumentsAt<T>(i);
    out[i] = Function::template call<T>(a.x, a.y);
  }
}

template <class Function, class T> __attribute__((noinline)) T alone(T x, T y) {
  return Function::template call<T>(x, y);
}

template <class Function, class T> bool differs() {
  static T out[Count];
  loop<Function, T>(Count, out);
  for (uint64_t i = 0; i < Count; ++i) {
    Arguments<T> a = argumentsAt<T>(i);
    if (bitsOrNan(alone<Function, T>(a.x, a.y)) != bitsOrNan(out[i]))
      return true;
  }
  return false;
}

} // namespace

const char *ASTRA_ENTRY() {
#define ASTRA_UNARY(name, implementation)                                      \
  if (differs<name##_function, float>() || differs<name##_function, double>()) \
    return #name;
#define ASTRA_BINARY(name, implementation) ASTRA_UNARY(name, implementation)
#include "kernels/math/Elementary.def"
  return nullptr;
}
