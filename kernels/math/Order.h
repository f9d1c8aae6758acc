// How often the functions that carry an order can be differentiated: all that
// the language and the dialect need to know of kernels/math/Ordered.h.
#ifndef ASTRA_KERNELS_MATH_ORDER_H
#define ASTRA_KERNELS_MATH_ORDER_H

#include <cstdint>

namespace astra {

/// The greatest order of polygamma, sinc and exprel.
constexpr int64_t MaxOrder = 32;

} // namespace astra

#endif // ASTRA_KERNELS_MATH_ORDER_H
