// Which operations on f32 are those on f64, rounded (kernels/math/Gamma.h and
// Ordered.h): kernels have one code of them for both types.
#ifndef ASTRA_KERNELS_OFDOUBLE_H
#define ASTRA_KERNELS_OFDOUBLE_H

#include "kernels/Ops.h"

ASTRA_KERNELS_BEGIN

template <class Op> inline constexpr bool isOfDouble = false;
#define ASTRA_OF_DOUBLE(name)                                                  \
  template <> inline constexpr bool isOfDouble<Op_##name> = true;
ASTRA_OF_DOUBLE(lgamma)
ASTRA_OF_DOUBLE(digamma)
ASTRA_OF_DOUBLE(trigamma)
ASTRA_OF_DOUBLE(polygamma)
ASTRA_OF_DOUBLE(sinc)
ASTRA_OF_DOUBLE(exprel)
#undef ASTRA_OF_DOUBLE

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_OFDOUBLE_H
