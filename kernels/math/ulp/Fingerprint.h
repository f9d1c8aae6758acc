// A number that stands for all results of a function: equal on two machines
// only if every result has the same bits. Shared by the host's tool and the
// device's.
#ifndef ASTRA_KERNELS_MATH_ULP_FINGERPRINT_H
#define ASTRA_KERNELS_MATH_ULP_FINGERPRINT_H

#include "kernels/math/Core.h"

namespace astra {
namespace ulp {

/// A well mixed function of x (the finaliser of splitmix64).
ASTRA_MATH_FN uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class T> ASTRA_MATH_FN uint64_t bitsOrNan(T x) {
  return x != x ? math::Format<T>::QuietNan : math::toBits(x);
}

/// What the result at argument number `index` adds to the fingerprint; the
/// order of adding does not matter.
template <class T> ASTRA_MATH_FN uint64_t share(uint64_t index, T result) {
  return mix(mix(index) + bitsOrNan(result));
}

/// Argument number `index`: for float the number of these bits; for double
/// every other one of about 1 to 1000 in size, the rest of any bits. The second
/// argument of a function of two is argument(mix(index)).
ASTRA_MATH_FN float argument(uint64_t index, float) {
  return math::fromBits(uint32_t(index));
}
ASTRA_MATH_FN double argument(uint64_t index, double) {
  uint64_t bits = mix(index + 0x9e3779b97f4a7c15u);
  uint64_t moderate = (bits & 0x800fffffffffffffu) | (1018 + (bits >> 52) % 15)
                                                         << 52;
  return math::fromBits(index % 2 == 0 ? moderate : bits);
}

/// How many arguments of double, and of functions of two, make a fingerprint.
constexpr uint64_t SampledArguments = uint64_t(1) << 26;
/// For float of one argument: all.
constexpr uint64_t AllSingles = uint64_t(1) << 32;

} // namespace ulp
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ULP_FINGERPRINT_H
