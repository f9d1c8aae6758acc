// Floating-point numbers as the shortest text that reads back to the same bits,
// as std::to_chars writes it, of which the C++ library's costs tables of 0.1
// MB.
#ifndef ASTRA_RUNTIME_FLOATTEXT_H
#define ASTRA_RUNTIME_FLOATTEXT_H

#include <string>

namespace astra {

/// The fewest digits, of those the closest; with an exponent where that is
/// shorter.
std::string floatText(double value);
std::string floatText(float value);

} // namespace astra
#endif // ASTRA_RUNTIME_FLOATTEXT_H
