// astra-ulp-cuda: the exhaustive float sweep of astra-ulp on a CUDA device, in seconds,
// against the device's own double functions and, for trigamma, its series in double.
// digamma needs more than double near its zeros. Not part of the build:
//   nvcc -std=c++17 -O3 -fmad=false -arch=sm_90 -I. -o astra-ulp-cuda kernels/math/ulp/astra-ulp-cuda.cu
#include "kernels/math/Elementary.h"

#include <cmath>
#include <cstdio>

using namespace astra;

namespace reference {
#define OWN(name) \
  __device__ double name(double x) { return ::name(x); }
OWN(rsqrt) OWN(cbrt) OWN(exp) OWN(exp2) OWN(expm1) OWN(log) OWN(log1p) OWN(log2)
OWN(log10) OWN(sin) OWN(cos) OWN(tan) OWN(asin) OWN(acos) OWN(atan) OWN(sinh)
OWN(cosh) OWN(tanh) OWN(erf) OWN(erfc) OWN(erfinv) OWN(lgamma)
__device__ double sigmoid(double x) { return 1 / (1 + ::exp(-x)); }
__device__ double softplus(double x) { return x > 40 ? x : ::log1p(::exp(x)); }
__device__ double log_sigmoid(double x) { return -softplus(-x); }
__device__ double silu(double x) { return x < -700 ? -0.0 : x * sigmoid(x); }
__device__ double gelu(double x) {
  return x < -38 ? -0.0 : ::isinf(x) ? x : 0.5 * x * ::erfc(-x * 0.70710678118654752440);
}
__device__ double sech2(double x) {
  double s = 1 / ::cosh(x);
  return s * s;
}
__device__ double trigamma(double x) {
  double sum = 0, sign = 1;
  if (x <= 0 && ::floor(x) == x)
    return x == -math::infinity<double>() ? math::nan<double>() : math::infinity<double>();
  if (x < 0) {
    double s = 3.14159265358979323846 / ::sinpi(x);
    sum = s * s, sign = -1;
    x = 1 - x;
  }
  for (; x < 16; x += 1)
    sum += sign / (x * x);
  double w = 1 / (x * x);
  return sum + sign * (1 / x + 0.5 * w +
         w / x * (1 / 6. - w * (1 / 30. - w * (1 / 42. - w * (1 / 30. - w * (5 / 66.))))));
}
} // namespace reference

/// |result - value| in ulps of float at the value, infinite for a wrong class; as
/// singleError of Reference.h.
__device__ double errorOf(float result, double value) {
  const double wrong = math::infinity<double>();
  if (::isnan(value) || ::isnan(result))
    return ::isnan(value) && ::isnan(result) ? 0 : wrong;
  if (::isinf(value))
    return double(result) == value ? 0 : wrong;
  if (value == 0 || result == 0)
    if ((value == 0 && result != 0) || signbit(value) != signbit(result))
      return wrong;
  const double limit = 0x1p128;
  double got = ::isinf(result) ? copysign(limit, double(result)) : double(result);
  double want = ::fabs(value) > limit ? copysign(limit, value) : value;
  int exponent = value == 0 ? -126 : ::ilogb(value);
  exponent = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
  return ::fabs(::ldexp(got - want, 23 - exponent));
}

/// The greatest error as float bits above the bits of its argument.
#define SWEEP(name)                                                             \
  __global__ void name##_sweep(unsigned long long *worst) {                     \
    unsigned long long own = 0;                                                 \
    uint64_t step = uint64_t(gridDim.x) * blockDim.x;                           \
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;          \
         i < (uint64_t(1) << 32); i += step) {                                  \
      float x = math::fromBits(uint32_t(i));                                    \
      double error = errorOf(math::name(x), reference::name(double(x)));        \
      unsigned long long packed = uint64_t(math::toBits(float(error))) << 32 | i; \
      own = packed > own ? packed : own;                                        \
    }                                                                           \
    atomicMax(worst, own);                                                      \
  }                                                                             \
  static void name##_run() {                                                    \
    unsigned long long *worst, result = 0;                                      \
    cudaMalloc(&worst, sizeof *worst);                                          \
    cudaMemset(worst, 0, sizeof *worst);                                        \
    name##_sweep<<<1056, 256>>>(worst);                                         \
    cudaMemcpy(&result, worst, sizeof result, cudaMemcpyDeviceToHost);          \
    cudaFree(worst);                                                            \
    float x = math::fromBits(uint32_t(result));                                 \
    printf("%-12s f32  %.4f ulp at %.9g (%a)  %s\n", #name,                     \
           math::fromBits(uint32_t(result >> 32)), x, x,                        \
           cudaGetErrorString(cudaGetLastError()));                             \
    fflush(stdout);                                                             \
  }
#define FUNCTIONS(F)                                                            \
  F(rsqrt) F(cbrt) F(exp) F(exp2) F(expm1) F(log) F(log1p) F(log2) F(log10)     \
  F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(sech2) \
  F(sigmoid) F(log_sigmoid) F(softplus) F(silu) F(gelu) F(erf) F(erfc)          \
  F(erfinv) F(lgamma) F(trigamma)
FUNCTIONS(SWEEP)

int main() {
#define RUN(name) name##_run();
  FUNCTIONS(RUN)
  return 0;
}
