// The elementary functions over blocks of numbers, by name: the loops are the
// ones that kernels run, vectorised by the compiler.
#ifndef ASTRA_KERNELS_MATH_ULP_BLOCKS_H
#define ASTRA_KERNELS_MATH_ULP_BLOCKS_H

#include <cstddef>
#include <cstdint>

namespace astra {
namespace ulp {

struct UnaryBlock {
  const char *name;
  void (*single)(const float *x, float *out, size_t count);
  void (*twice)(const double *x, double *out, size_t count);
};
struct BinaryBlock {
  const char *name;
  void (*single)(const float *x, const float *y, float *out, size_t count);
  void (*twice)(const double *x, const double *y, double *out, size_t count);
};

struct OrderedFunction {
  const char *name;
  float (*single)(float x, int64_t order);
  double (*twice)(double x, int64_t order);
};

/// f16 and bf16 by their bits: rounding of a float, and the float that they
/// are.
struct HalfFormat {
  uint16_t (*round)(float x);
  float (*widen)(uint16_t bits);
};
extern const HalfFormat HalfFormats[2];

/// All end with a row whose name is null.
extern const OrderedFunction OrderedFunctions[];
extern const UnaryBlock UnaryBlocks[];
extern const BinaryBlock BinaryBlocks[];

} // namespace ulp
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ULP_BLOCKS_H
