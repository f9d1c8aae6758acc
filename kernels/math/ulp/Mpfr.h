// MPFR numbers that free themselves, for the references for double.
#ifndef ASTRA_KERNELS_MATH_ULP_MPFR_H
#define ASTRA_KERNELS_MATH_ULP_MPFR_H

#include <mpfr.h>

namespace astra {
namespace ulp {

constexpr mpfr_prec_t Precision = 300;
constexpr mpfr_rnd_t N = MPFR_RNDN;

struct Number {
  mpfr_t v;
  explicit Number(mpfr_prec_t precision = Precision) {
    mpfr_init2(v, precision);
  }
  Number(const Number &) = delete;
  Number &operator=(const Number &) = delete;
  ~Number() { mpfr_clear(v); }
  operator mpfr_ptr() { return v; }
};

} // namespace ulp
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ULP_MPFR_H
