// Walks the elements of a view; see FiniteScan.h. Axes that repeat are looked
// at once.
#include "devices/cpu/FiniteScan.h"
#include "astra/astra.h"
#include <cstring>

namespace astra {
namespace {

/// The bits of a float: its exponent is all ones, and the rest tells a NaN from
/// an infinity.
template <class Word> struct Format {
  Word exponent;
  uint32_t classify(Word bits) const {
    Word magnitude = Word(bits & Word(Word(~Word(0)) >> 1));
    if (magnitude < exponent)
      return 0;
    return magnitude == exponent ? ASTRA_CHECK_INFINITY : ASTRA_CHECK_NAN;
  }
};

template <class Word> class Scan {
public:
  Scan(const astra_arg_t &view, Word exponent, uint32_t wanted)
      : view(view), format{exponent}, wanted(wanted) {}

  uint32_t run() {
    for (uint32_t axis = 0; axis < view.rank; ++axis)
      if (view.shape[axis] == 0)
        return 0;
    walk(0, static_cast<const Word *>(view.data));
    return found & wanted;
  }

private:
  int64_t extent(uint32_t axis) const {
    return view.strides[axis] ? view.shape[axis] : 1;
  }

  void walk(uint32_t axis, const Word *data) {
    if (axis == view.rank)
      return look(data, 1, 1);
    if (axis + 1 == view.rank)
      return look(data, extent(axis), view.strides[axis]);
    for (int64_t i = 0; i < extent(axis) && !isDone(); ++i)
      walk(axis + 1, data + i * view.strides[axis]);
  }

  void look(const Word *data, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i) {
      Word bits;
      std::memcpy(&bits, data + i * stride, sizeof bits);
      found |= format.classify(bits);
    }
  }

  bool isDone() const { return (found & wanted) == wanted; }

  const astra_arg_t &view;
  const Format<Word> format;
  const uint32_t wanted;
  uint32_t found = 0;
};

} // namespace

uint32_t findNotFinite(const astra_arg_t &view, uint32_t wanted) {
  switch (view.dtype) {
  case ASTRA_F32:
    return Scan<uint32_t>(view, 0x7f800000u, wanted).run();
  case ASTRA_F64:
    return Scan<uint64_t>(view, 0x7ff0000000000000u, wanted).run();
  case ASTRA_F16:
    return Scan<uint16_t>(view, 0x7c00u, wanted).run();
  case ASTRA_BF16:
    return Scan<uint16_t>(view, 0x7f80u, wanted).run();
  default:
    return 0;
  }
}

} // namespace astra
