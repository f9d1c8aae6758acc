// The elementary functions of Astra's arithmetic, for float and double: one
// definition for scalar code, vectorised loops, CUDA and ROCm. sqrt is in
// Core.h. Compile with contraction off (-ffp-contract=off, nvcc -fmad=false).
// Definitions and accuracy: docs/elementary.md.
#ifndef ASTRA_KERNELS_MATH_ELEMENTARY_H
#define ASTRA_KERNELS_MATH_ELEMENTARY_H

#include "kernels/math/Activations.h"
#include "kernels/math/Arc.h"
#include "kernels/math/Erf.h"
#include "kernels/math/Exp.h"
#include "kernels/math/Gamma.h"
#include "kernels/math/Log.h"
#include "kernels/math/Ordered.h"
#include "kernels/math/Pow.h"
#include "kernels/math/Root.h"
#include "kernels/math/Trig.h"

namespace astra {
namespace math {

#define ASTRA_UNARY(name, implementation)                                      \
  ASTRA_MATH_FN float name(float x) { return implementation(x); }              \
  ASTRA_MATH_FN double name(double x) { return implementation(x); }
#define ASTRA_BINARY(name, implementation)                                     \
  ASTRA_MATH_FN float name(float x, float y) { return implementation(x, y); }  \
  ASTRA_MATH_FN double name(double x, double y) { return implementation(x, y); }
#define ASTRA_ORDERED(name, implementation)                                    \
  ASTRA_MATH_FN float name(float x, int64_t order) {                           \
    return implementation(x, order);                                           \
  }                                                                            \
  ASTRA_MATH_FN double name(double x, int64_t order) {                         \
    return implementation(x, order);                                           \
  }
#include "kernels/math/Elementary.def"

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ELEMENTARY_H
