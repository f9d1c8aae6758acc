// Shortest decimal digits in exact arithmetic on long integers (after Steele
// and White): slow beside tables of powers, and short. The value and the half
// gaps to its neighbours are multiples of one unit; digits come out until what
// is left is within a gap.
#include "core/FloatText.h"
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace astra {
namespace {

/// A natural number below 2^1184: enough for 2^1024 and the factors beside it.
class Natural {
public:
  explicit Natural(uint64_t value) {
    words[0] = uint32_t(value);
    words[1] = uint32_t(value >> 32);
  }

  Natural &operator*=(uint32_t factor) {
    uint64_t carry = 0;
    for (uint32_t &word : words) {
      carry += uint64_t(word) * factor;
      word = uint32_t(carry);
      carry >>= 32;
    }
    return *this;
  }
  Natural &shift(int bits) {
    for (; bits > 31; bits -= 31)
      *this *= uint32_t(1) << 31;
    return *this *= uint32_t(1) << bits;
  }
  Natural operator+(const Natural &other) const {
    Natural sum = *this;
    uint64_t carry = 0;
    for (int i = 0; i < count; ++i) {
      carry += uint64_t(words[i]) + other.words[i];
      sum.words[i] = uint32_t(carry);
      carry >>= 32;
    }
    return sum;
  }
  /// `other` is no larger.
  Natural &operator-=(const Natural &other) {
    int64_t borrow = 0;
    for (int i = 0; i < count; ++i) {
      borrow += int64_t(words[i]) - int64_t(other.words[i]);
      words[i] = uint32_t(borrow);
      borrow >>= 32;
    }
    return *this;
  }
  /// Below 0, 0 or above 0, as this number is below, the same or above.
  int compare(const Natural &other) const {
    for (int i = count; i-- > 0;)
      if (words[i] != other.words[i])
        return words[i] < other.words[i] ? -1 : 1;
    return 0;
  }

private:
  static constexpr int count = 37;
  uint32_t words[count] = {};
};

/// 0.d1 d2 d3 ... times ten to the exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

/// Of mantissa * 2^exponent > 0. Below a power of two the gap is half as wide,
/// unless the exponent is the least.
Decimal shortest(uint64_t mantissa, int exponent, bool isPower) {
  int wider = isPower ? 1 : 0, up = exponent > 0 ? exponent : 0;
  Natural rest(mantissa), above(1), below(1), unit(1);
  rest.shift(1 + wider + up);
  above.shift(wider + up);
  below.shift(up);
  unit.shift(1 + wider + (exponent < 0 ? -exponent : 0));
  // The ends of the gaps round to an even mantissa.
  int reach = mantissa % 2 == 0 ? 0 : 1;
  Decimal result;
  while ((rest + above).compare(unit) >= reach) {
    unit *= 10;
    ++result.exponent;
  }
  auto scale = [&] {
    rest *= 10;
    above *= 10;
    below *= 10;
  };
  for (scale(); (rest + above).compare(unit) < reach; scale())
    --result.exponent;
  for (;; scale()) {
    char digit = '0';
    for (; rest.compare(unit) >= 0; ++digit)
      rest -= unit;
    bool low = below.compare(rest) >= reach;
    bool high = (rest + above).compare(unit) >= reach;
    if (low || high) {
      int half = (rest + rest).compare(unit);
      bool roundsUp = half > 0 || (half == 0 && (digit - '0') % 2 != 0);
      result.digits += char(digit + (high && (!low || roundsUp) ? 1 : 0));
      return result;
    }
    result.digits += digit;
  }
}

std::string withExponent(const Decimal &number) {
  std::string text = number.digits.substr(0, 1);
  if (number.digits.size() > 1)
    text += "." + number.digits.substr(1);
  char exponent[8];
  std::snprintf(exponent, sizeof(exponent), "e%+03d", number.exponent - 1);
  return text + exponent;
}

/// A large whole number has all its digits.
std::string withoutExponent(const Decimal &number, double magnitude) {
  int point = number.exponent;
  if (point <= 0)
    return "0." + std::string(size_t(-point), '0') + number.digits;
  if (size_t(point) < number.digits.size())
    return number.digits.substr(0, size_t(point)) + "." +
           number.digits.substr(size_t(point));
  char whole[400];
  std::snprintf(whole, sizeof(whole), "%.0f", magnitude);
  return whole;
}

template <class T> std::string textOf(T value) {
  using Limits = std::numeric_limits<T>;
  std::string sign = std::signbit(value) ? "-" : "";
  if (std::isnan(value))
    return sign + "nan";
  T magnitude = std::fabs(value);
  if (magnitude > Limits::max())
    return sign + "inf";
  if (magnitude == T(0))
    return sign + "0";
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent -= Limits::digits;
  constexpr int least = Limits::min_exponent - Limits::digits;
  exponent = exponent < least ? least : exponent;
  uint64_t mantissa = uint64_t(std::ldexp(magnitude, -exponent));
  bool isPower = mantissa == uint64_t(1) << (Limits::digits - 1);
  Decimal number = shortest(mantissa, exponent, isPower && exponent != least);
  std::string scientific = withExponent(number);
  std::string fixed = withoutExponent(number, magnitude);
  return sign + (fixed.size() <= scientific.size() ? fixed : scientific);
}

} // namespace

std::string floatText(double value) { return textOf(value); }
std::string floatText(float value) { return textOf(value); }

} // namespace astra
