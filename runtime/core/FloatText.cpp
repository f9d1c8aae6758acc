// Numbers are written with one digit more until they read back; see
// FloatText.h.
#include "core/FloatText.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace astra {
namespace {

/// 0.d1 d2 d3 ... times ten to the exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

double readBack(const char *text, double) { return std::strtod(text, nullptr); }
float readBack(const char *text, float) { return std::strtof(text, nullptr); }

/// Of a text as printf's %e writes it, whatever the locale's decimal point.
Decimal parse(const char *text) {
  Decimal result;
  for (; *text != 'e'; ++text)
    if (*text >= '0' && *text <= '9')
      result.digits += *text;
  result.exponent = std::atoi(text + 1) + 1;
  return result;
}

/// Of a magnitude above 0.
template <class T> Decimal shortest(T magnitude) {
  char text[40];
  for (int digits = 1;; ++digits) {
    std::snprintf(text, sizeof(text), "%.*e", digits - 1, double(magnitude));
    if (digits == std::numeric_limits<T>::max_digits10 ||
        readBack(text, magnitude) == magnitude)
      return parse(text);
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
  Decimal number = shortest(magnitude);
  std::string scientific = withExponent(number);
  std::string fixed = withoutExponent(number, magnitude);
  return sign + (fixed.size() <= scientific.size() ? fixed : scientific);
}

} // namespace

std::string floatText(double value) { return textOf(value); }
std::string floatText(float value) { return textOf(value); }

} // namespace astra
