// See Sweep.h.
#include "kernels/math/ulp/Sweep.h"

#include "kernels/math/ulp/Blocks.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace astra {
namespace ulp {

const Case Cases[] = {
#define ASTRA_CASE(name, symmetry, monotone, low, high, bound32, bound64)      \
  {#name, Symmetry::symmetry, monotone, low, high, bound32, bound64},
#include "kernels/math/ulp/Cases.def"
    {nullptr, Symmetry::None, 0, 0, 0, 0, 0}};

const OrderedCase OrderedCases[] = {
#define ASTRA_ORDERED_CASE(name, first, low, high, bound32, bound64)           \
  {#name, first, low, high, bound32, bound64},
#include "kernels/math/ulp/Cases.def"
    {nullptr, 0, 0, 0, 0, 0}};

void Worst::add(double newError, double newX, double newY, double newResult) {
  known = true;
  ++arguments;
  unrounded += newError > 0.5;
  if (newError <= error)
    return;
  error = newError;
  x = newX, y = newY, result = newResult;
}

void Worst::merge(const Worst &other) {
  known |= other.known;
  arguments += other.arguments;
  descents += other.descents;
  asymmetric += other.asymmetric;
  unrounded += other.unrounded;
  if (other.error > error) {
    error = other.error;
    x = other.x, y = other.y, result = other.result;
  }
}

template <class Block>
static const Block *find(const Block *blocks, const std::string &name) {
  for (; blocks->name; ++blocks)
    if (name == blocks->name)
      return blocks;
  return nullptr;
}

static uint32_t bitsOf(float x) {
  uint32_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}

template <class T, class Bits> static T fromBits(Bits b) {
  T x;
  static_assert(sizeof x == sizeof b, "a number and its bits");
  memcpy(&x, &b, sizeof x);
  return x;
}

/// Floats in numeric order: 0 is -infinity, the middle -0 and +0.
static constexpr uint64_t Half = 0x7f800001;
static float floatAt(uint64_t index) {
  return index < Half
             ? fromBits<float>(uint32_t(0x80000000u + (Half - 1 - index)))
             : fromBits<float>(uint32_t(index - Half));
}

static bool mirrors(Symmetry symmetry, float atX, float atMinusX) {
  if (std::isnan(atX))
    return std::isnan(atMinusX);
  uint32_t flip = symmetry == Symmetry::Odd ? 0x80000000u : 0;
  return (bitsOf(atX) ^ flip) == bitsOf(atMinusX);
}

static constexpr size_t BlockSize = 1024;

static void checkSymmetry(const UnaryBlock &block, Symmetry symmetry,
                          const float *x, const float *results, size_t count,
                          Worst &worst) {
  float minus[BlockSize], mirrored[BlockSize];
  for (size_t i = 0; i < count; ++i)
    minus[i] = -x[i];
  block.single(minus, mirrored, count);
  for (size_t i = 0; i < count; ++i)
    worst.asymmetric += !mirrors(symmetry, results[i], mirrored[i]);
}

/// The reference is good to far less than this part of a float's ulp.
static constexpr double Undecided = 0x1p-20;

static double judge(const Case &function, float x, float result, double value) {
  double error = singleError(result, value);
  if (std::fabs(error - 0.5) < Undecided && haveDoubleReference())
    return exactError(function.name, x, 0, result, Format::F32);
  return error;
}

/// Arguments number begin, begin + stride, ... below end.
static Worst sweepRange(const Case &function, uint64_t begin, uint64_t end,
                        uint64_t stride) {
  Worst worst;
  const UnaryBlock &block = *find(UnaryBlocks, function.name);
  SingleReference reference = singleReference(function.name);
  float x[BlockSize], results[BlockSize];
  float last = NAN;
  while (begin < end) {
    size_t count = 0;
    for (; count < BlockSize && begin < end; begin += stride)
      x[count++] = floatAt(begin);
    block.single(x, results, count);
    for (size_t i = 0; i < count; ++i) {
      worst.add(judge(function, x[i], results[i], reference(x[i])), x[i], 0,
                results[i]);
      worst.descents +=
          function.monotone * results[i] < function.monotone * last;
      last = results[i];
    }
    if (function.symmetry != Symmetry::None)
      checkSymmetry(block, function.symmetry, x, results, count, worst);
  }
  return worst;
}

/// The greatest error of the reference at a thousand arguments.
static double errorOfReference(const Case &function) {
  constexpr uint64_t Step = (2 * Half) / 1021;
  SingleReference reference = singleReference(function.name);
  double greatest = 0;
  for (uint64_t i = Step; haveDoubleReference() && i < 2 * Half; i += Step) {
    double value = reference(floatAt(i));
    if (std::isfinite(value))
      greatest =
          std::max(greatest, referenceError(function.name, floatAt(i), value));
  }
  return greatest;
}

Worst sweepSingle(const Case &function, uint64_t stride, unsigned jobs) {
  uint64_t begin = function.symmetry == Symmetry::None ? 0 : Half,
           end = 2 * Half;
  // More pieces than threads: the cost of an argument depends on its size.
  uint64_t pieces = jobs == 1 ? 1 : 64 * jobs;
  uint64_t share = (end - begin) / stride / pieces + 1;
  std::vector<Worst> parts(pieces);
  std::atomic<uint64_t> next{0};
  auto work = [&] {
    for (uint64_t p; (p = next++) < pieces;) {
      // One argument more than its share: the step to the neighbour's first.
      uint64_t from = begin + p * share * stride;
      uint64_t to = std::min(end, from + (share + 1) * stride);
      if (from < end)
        parts[p] = sweepRange(function, from, to, stride);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned j = 1; j < jobs; ++j)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  Worst worst;
  for (const Worst &part : parts)
    worst.merge(part);
  if (haveDoubleReference() && std::isfinite(worst.error))
    worst.error =
        exactError(function.name, worst.x, 0, worst.result, Format::F32);
  worst.reference = errorOfReference(function);
  float nan = NAN, atNan;
  find(UnaryBlocks, function.name)->single(&nan, &atNan, 1);
  worst.add(std::isnan(atNan) ? 0 : HUGE_VAL, NAN, 0, atNan);
  return worst;
}

Worst sweepHalf(const Case &function, Format format) {
  Worst worst;
  const UnaryBlock &block = *find(UnaryBlocks, function.name);
  const HalfFormat &half =
      format == Format::F16 ? HalfFormats[0] : HalfFormats[1];
  for (uint32_t bits = 0; haveDoubleReference() && bits < 0x10000; ++bits) {
    float x = half.widen(uint16_t(bits)), result;
    block.single(&x, &result, 1);
    result = half.widen(half.round(result));
    // MPFR for the size of the error, the reference for classes and signs.
    double value = singleReference(function.name)(x);
    double error = std::isfinite(value) && value != 0
                       ? exactError(function.name, x, 0, result, format)
                       : singleError(result, value);
    worst.add(error, x, 0, result);
  }
  return worst;
}

/// A number within [low, high] or, every other time, one of any bits but NaN
/// and infinity.
template <class T, class Bits>
static T argument(std::mt19937_64 &random, uint64_t number, double low,
                  double high) {
  if (number % 2 == 0)
    return T(std::uniform_real_distribution<double>(low, high)(random));
  T x;
  do
    x = fromBits<T>(Bits(random()));
  while (!std::isfinite(x));
  return x;
}

Worst sampleDouble(const Case &function, uint64_t count, uint64_t seed) {
  Worst worst;
  if (!haveDoubleReference())
    return worst;
  const UnaryBlock &block = *find(UnaryBlocks, function.name);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < count; ++i) {
    double x = argument<double, uint64_t>(random, i, function.low,
                                          function.high),
           result;
    block.twice(&x, &result, 1);
    worst.add(doubleError(function.name, x, 0, result), x, 0, result);
  }
  return worst;
}

/// A pole has no value to measure.
static bool isPole(const OrderedCase &function, double x) {
  return function.name == std::string("polygamma") && x <= 0 &&
         std::nearbyint(x) == x;
}

Worst sampleOrderedSingle(const OrderedCase &function, int64_t order,
                          uint64_t count, uint64_t seed) {
  Worst worst;
  const OrderedFunction &block = *find(OrderedFunctions, function.name);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; haveDoubleReference() && i < count; ++i) {
    float x = argument<float, uint32_t>(random, i, function.low, function.high);
    if (isPole(function, x))
      continue;
    float result = block.single(x, order);
    double value;
    double wide =
        orderedError(function.name, x, order, result, value) * 0x1p-29;
    double error = singleError(result, value);
    // Near a zero the size of the waves counts.
    if (std::isfinite(result) && result != 0)
      error = std::min(error, wide);
    worst.add(error, x, double(order), result);
  }
  return worst;
}

Worst sampleOrderedDouble(const OrderedCase &function, int64_t order,
                          uint64_t count, uint64_t seed) {
  Worst worst;
  const OrderedFunction &block = *find(OrderedFunctions, function.name);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; haveDoubleReference() && i < count; ++i) {
    double x =
        argument<double, uint64_t>(random, i, function.low, function.high);
    if (isPole(function, x))
      continue;
    double result = block.twice(x, order), value;
    worst.add(orderedError(function.name, x, order, result, value), x,
              double(order), result);
  }
  return worst;
}

/// Arguments of two-argument functions: near 1, of all sizes, and (for pow)
/// such that the result is a normal number.
template <class T, class Bits>
static void arguments(std::mt19937_64 &random, uint64_t number, bool isPow,
                      T &x, T &y) {
  x = argument<T, Bits>(random, number / 2, isPow ? 0 : -2, 2);
  y = argument<T, Bits>(random, number / 4, -2, 2);
  if (!isPow || number % 4 == 3)
    return;
  x = std::fabs(x);
  double limit = sizeof(T) == 4 ? 150 : 1075;
  double power = std::uniform_real_distribution<double>(-limit, limit)(random);
  y = T(power / std::log2(double(x)));
}

Worst sampleSingle2(const std::string &name, uint64_t count, uint64_t seed) {
  Worst worst;
  const BinaryBlock &block = *find(BinaryBlocks, name);
  SingleReference2 reference = singleReference2(name);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < count; ++i) {
    float x, y, result;
    arguments<float, uint32_t>(random, i, name == "pow", x, y);
    block.single(&x, &y, &result, 1);
    worst.add(singleError(result, reference(x, y)), x, y, result);
  }
  return worst;
}

Worst sampleDouble2(const std::string &name, uint64_t count, uint64_t seed) {
  Worst worst;
  if (!haveDoubleReference())
    return worst;
  const BinaryBlock &block = *find(BinaryBlocks, name);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < count; ++i) {
    double x, y, result;
    arguments<double, uint64_t>(random, i, name == "pow", x, y);
    block.twice(&x, &y, &result, 1);
    worst.add(doubleError(name, x, y, result), x, y, result);
  }
  return worst;
}

} // namespace ulp
} // namespace astra
