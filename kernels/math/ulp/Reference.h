// Independent values for the elementary functions: the C library's double
// functions (and long double series where it has none) for float results, MPFR
// for double results. It knows nothing of kernels/math.
#ifndef ASTRA_KERNELS_MATH_ULP_REFERENCE_H
#define ASTRA_KERNELS_MATH_ULP_REFERENCE_H

#include <cstdint>
#include <string>

namespace astra {
namespace ulp {

/// A value to hold float results against, good to far less than a float's ulp;
/// null if the name is unknown.
using SingleReference = double (*)(double);
using SingleReference2 = double (*)(double, double);
SingleReference singleReference(const std::string &name);
SingleReference2 singleReference2(const std::string &name);

/// |result - value of the function| in ulps of float at the value; infinite
/// where the class (NaN, infinity, sign of zero) is wrong.
double singleError(float result, double value);

/// Whether MPFR was there to build with.
bool haveDoubleReference();

/// The error in ulps of `result` as name(x) or name(x, y) in double, by MPFR.
double doubleError(const std::string &name, double x, double y, double result);

/// The same for a result of name(x) or name(x, y) in float, of one argument in
/// f16 or bf16 (that is what `format` says), without rounding in between.
enum class Format { F32, F16, BF16 };
double exactError(const std::string &name, double x, double y, double result,
                  Format format);

/// How far a value of `singleReference` is from the function's, in ulps of
/// float.
double referenceError(const std::string &name, double x, double value);

/// The same for a function with an order; near a zero of a derivative the ulps
/// are those of the size of its waves. `value`: what is right, rounded.
double orderedError(const std::string &name, double x, int64_t order,
                    double result, double &value);

} // namespace ulp
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ULP_REFERENCE_H
