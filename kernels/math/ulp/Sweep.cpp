// See Sweep.h.
#include "kernels/math/ulp/Sweep.h"

#include "kernels/math/ulp/Blocks.h"
#include "kernels/math/ulp/Reference.h"

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
      worst.add(singleError(results[i], reference(x[i])), x[i], 0, results[i]);
      worst.descents +=
          function.monotone * results[i] < function.monotone * last;
      last = results[i];
    }
    if (function.symmetry != Symmetry::None)
      checkSymmetry(block, function.symmetry, x, results, count, worst);
  }
  return worst;
}

Worst sweepSingle(const Case &function, uint64_t stride, unsigned jobs) {
  uint64_t begin = function.symmetry == Symmetry::None ? 0 : Half,
           end = 2 * Half;
  std::vector<Worst> parts(jobs);
  std::vector<std::thread> threads;
  uint64_t share = (end - begin + jobs - 1) / jobs;
  for (unsigned j = 0; j < jobs; ++j)
    threads.emplace_back([&, j] {
      // One argument more than its share: the step to the neighbour's first.
      uint64_t from = begin + j * share;
      uint64_t to = std::min(end, from + share + stride);
      parts[j] = sweepRange(function, from, to, stride);
    });
  for (std::thread &thread : threads)
    thread.join();
  Worst worst;
  for (const Worst &part : parts)
    worst.merge(part);
  float nan = NAN, atNan;
  find(UnaryBlocks, function.name)->single(&nan, &atNan, 1);
  worst.add(std::isnan(atNan) ? 0 : HUGE_VAL, NAN, 0, atNan);
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
    orderedError(function.name, x, order, result, value);
    worst.add(singleError(result, value), x, double(order), result);
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
