// See Blocks.h. Compiled for the level that kernels are, so that loops are
// vectors.
#include "kernels/math/ulp/Blocks.h"

#include "kernels/Types.h"
#include "kernels/math/Elementary.h"

namespace astra {
namespace ulp {

#define ASTRA_UNARY(name, implementation)                                      \
  template <class T> static void name(const T *x, T *out, size_t count) {      \
    for (size_t i = 0; i < count; ++i)                                         \
      out[i] = math::name(x[i]);                                               \
  }
#define ASTRA_BINARY(name, implementation)                                     \
  template <class T>                                                           \
  static void name(const T *x, const T *y, T *out, size_t count) {             \
    for (size_t i = 0; i < count; ++i)                                         \
      out[i] = math::name(x[i], y[i]);                                         \
  }
#include "kernels/math/Elementary.def"

const UnaryBlock UnaryBlocks[] = {
#define ASTRA_UNARY(name, implementation) {#name, name<float>, name<double>},
#include "kernels/math/Elementary.def"
    {nullptr, nullptr, nullptr}};

const BinaryBlock BinaryBlocks[] = {
#define ASTRA_BINARY(name, implementation) {#name, name<float>, name<double>},
#include "kernels/math/Elementary.def"
    {nullptr, nullptr, nullptr}};

#define ASTRA_ORDERED(name, implementation)                                    \
  template <class T> static T name(T x, int64_t order) {                       \
    return math::name(x, order);                                               \
  }
#include "kernels/math/Elementary.def"

const HalfFormat HalfFormats[2] = {
    {[](float x) { return roundToF16(x).bits; },
     [](uint16_t bits) { return widen(F16{bits}); }},
    {[](float x) { return roundToBF16(x).bits; },
     [](uint16_t bits) { return widen(BF16{bits}); }}};

const OrderedFunction OrderedFunctions[] = {
#define ASTRA_ORDERED(name, implementation) {#name, name<float>, name<double>},
#include "kernels/math/Elementary.def"
    {nullptr, nullptr, nullptr}};

} // namespace ulp
} // namespace astra
