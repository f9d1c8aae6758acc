// A tensor of any dtype in any layout, filled with values that break careless
// kernels: NaN, infinities, both zeros, subnormals, extremes, random bits.
#ifndef ASTRA_TEST_KERNELS_ANYTENSOR_H
#define ASTRA_TEST_KERNELS_ANYTENSOR_H

#include "KernelTesting.h"
#include "kernels/Types.h"
#include <cmath>
#include <random>

namespace astra {
namespace testing {

struct Dtype {
  enum Kind { Bool, Int, Float, Half, BFloat } kind;
  int bytes;
};

inline Dtype dtypeOf(const std::string &name) {
  if (name == "bool")
    return {Dtype::Bool, 1};
  if (name == "f32" || name == "f64")
    return {Dtype::Float, name == "f32" ? 4 : 8};
  if (name == "f16")
    return {Dtype::Half, 2};
  if (name == "bf16")
    return {Dtype::BFloat, 2};
  return {Dtype::Int, std::stoi(name.substr(1)) / 8}; // also b8, b16, ...
}

using Random = std::mt19937_64;

/// Bits of a value. `tame` floats are of moderate size and never special.
inline uint64_t randomBits(Dtype t, Random &random, bool tame) {
  if (t.kind == Dtype::Bool)
    return random() & 1;
  if (t.kind == Dtype::Int)
    return random() % 4 ? random() % 7 - 3 : random();
  double moderate = std::uniform_real_distribution<double>(-4, 4)(random);
  uint64_t choice = tame ? 9 : random() % 12;
  if (choice == 0)
    return random();
  const double special[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-40, 1, -1};
  double value = choice == 1   ? special[random() % 8]
                 : choice == 2 ? moderate * 1e5
                 : choice == 3 ? moderate * 30
                               : moderate;
  if (t.kind == Dtype::Half)
    return roundDouble<5, 10>(value);
  if (t.kind == Dtype::BFloat)
    return roundDouble<8, 7>(value);
  return t.bytes == 4 ? bitsAs<uint32_t>(float(value))
                      : bitsAs<uint64_t>(value);
}

inline uint64_t canonical(Dtype t, uint64_t bits) {
  switch (t.kind) {
  case Dtype::Half:
    return canonicalBits(F16{uint16_t(bits)});
  case Dtype::BFloat:
    return canonicalBits(BF16{uint16_t(bits)});
  case Dtype::Float:
    return t.bytes == 4 ? canonicalBits(bitsAs<float>(uint32_t(bits)))
                        : canonicalBits(bitsAs<double>(bits));
  default:
    return bits;
  }
}

/// Unaligned: dense, but aligned to an element only.
enum class Layout { Dense, Transposed, Backwards, Gaps, Unaligned, Broadcast };

struct AnyTensor {
  Dtype dtype{};
  std::vector<int64_t> shape, strides;
  std::vector<uint8_t> bytes;
  int64_t origin = 0;

  AnyTensor(Dtype dtype, std::vector<int64_t> shape_, Layout layout)
      : dtype(dtype), shape(std::move(shape_)), strides(shape.size()) {
    int64_t next = layout == Layout::Gaps ? 3 : 1;
    for (size_t i = 0; i < shape.size(); ++i) {
      size_t d = layout == Layout::Transposed ? i : shape.size() - 1 - i;
      strides[d] = next;
      next *= shape[d];
      // The innermost axis but one is broadcast, or the innermost of a vector.
      if (layout == Layout::Broadcast && (i == 1 || shape.size() == 1)) {
        next /= shape[d] ? shape[d] : 1;
        strides[d] = 0;
      }
    }
    if (layout == Layout::Backwards)
      for (size_t d = 0; d < shape.size(); ++d) {
        origin += (shape[d] > 0 ? shape[d] - 1 : 0) * strides[d];
        strides[d] = -strides[d];
      }
    if (layout == Layout::Unaligned)
      ++origin;
    int64_t last = origin;
    bool empty = false;
    for (size_t d = 0; d < shape.size(); ++d) {
      empty |= shape[d] == 0;
      last += strides[d] > 0 && shape[d] > 0 ? (shape[d] - 1) * strides[d] : 0;
    }
    // No byte more than the views may touch; a place also for no element.
    bytes.reserve(1);
    bytes.resize(empty ? 0 : size_t(last + 1) * size_t(dtype.bytes));
    if (empty)
      origin = 0;
  }

  void fill(Random &random, bool tame) {
    fillWith([&] { return randomBits(dtype, random, tame); });
  }
  /// With the low bits of what next() gives.
  template <class Next> void fillWith(Next next) {
    for (size_t at = 0; at < bytes.size(); at += size_t(dtype.bytes)) {
      uint64_t bits = next();
      std::memcpy(bytes.data() + at, &bits, size_t(dtype.bytes));
    }
  }
  void replace(uint64_t from, uint64_t to) {
    for (size_t at = 0; at < bytes.size(); at += size_t(dtype.bytes))
      if (!std::memcmp(bytes.data() + at, &from, size_t(dtype.bytes)))
        std::memcpy(bytes.data() + at, &to, size_t(dtype.bytes));
  }

  astra_arg_t arg() const {
    return {const_cast<uint8_t *>(bytes.data()) + origin * dtype.bytes,
            shape.data(), strides.data(), 0, uint32_t(shape.size())};
  }

  /// The whole memory with one NaN.
  std::vector<uint64_t> canonicalMemory() const {
    std::vector<uint64_t> result;
    for (size_t at = 0; at < bytes.size(); at += size_t(dtype.bytes)) {
      uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + at, size_t(dtype.bytes));
      result.push_back(canonical(dtype, bits));
    }
    return result;
  }
};

} // namespace testing
} // namespace astra

#endif // ASTRA_TEST_KERNELS_ANYTENSOR_H
