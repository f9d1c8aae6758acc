// One function's measurement: the greatest error, where it is, breaks of
// monotony and of symmetry. The sweeps over float arguments go in numeric
// order.
#ifndef ASTRA_KERNELS_MATH_ULP_SWEEP_H
#define ASTRA_KERNELS_MATH_ULP_SWEEP_H

#include "kernels/math/ulp/Reference.h"

#include <cstdint>
#include <string>

namespace astra {
namespace ulp {

enum class Symmetry { None, Odd, Even };

struct Case {
  const char *name;
  Symmetry symmetry;
  int monotone;
  double low, high;
  double bound32, bound64;
};

struct OrderedCase {
  const char *name;
  int64_t first;
  double low, high;
  double bound32, bound64;
};

/// Both end with a row whose name is null.
extern const Case Cases[];
extern const OrderedCase OrderedCases[];
/// The orders that are measured, up to the highest.
constexpr int64_t Orders[] = {0, 1, 2, 3, 4, 8, 16, 32};

struct Worst {
  double error = 0;
  double x = 0, y = 0, result = 0;
  uint64_t arguments = 0;
  uint64_t descents = 0;   ///< Neighbours in the wrong order.
  uint64_t asymmetric = 0; ///< Arguments where the symmetry does not hold.
  uint64_t unrounded = 0;  ///< Results that are not the nearest number.
  double reference = 0;    ///< Greatest error found in the reference itself.
  bool known = false;      ///< There was a reference to measure by.

  void add(double newError, double newX, double newY, double newResult);
  void merge(const Worst &other);
};

/// Every `stride`-th float from -infinity to infinity, and NaN; arguments of
/// negative sign only by their symmetry where the function has one. Where the
/// reference is too near the middle between two floats to tell which is the
/// nearest, and for the greatest error, MPFR is the judge.
Worst sweepSingle(const Case &function, uint64_t stride, unsigned jobs);

/// Every f16 or bf16 argument, against MPFR: the function of float, rounded.
Worst sweepHalf(const Case &function, Format format);

/// `count` double arguments: half within [low, high], half over all bit
/// patterns.
Worst sampleDouble(const Case &function, uint64_t count, uint64_t seed);

/// Likewise for a function with an order, in float and double.
Worst sampleOrderedSingle(const OrderedCase &function, int64_t order,
                          uint64_t count, uint64_t seed);
Worst sampleOrderedDouble(const OrderedCase &function, int64_t order,
                          uint64_t count, uint64_t seed);

/// Likewise for pow and atan2, in float and double.
Worst sampleSingle2(const std::string &name, uint64_t count, uint64_t seed);
Worst sampleDouble2(const std::string &name, uint64_t count, uint64_t seed);

} // namespace ulp
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ULP_SWEEP_H
