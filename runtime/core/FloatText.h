// Floating-point numbers as the shortest text that reads back to the same bits,
// like std::to_chars, of which the C++ library's costs tables of 0.1 MB.
#ifndef ASTRA_RUNTIME_FLOATTEXT_H
#define ASTRA_RUNTIME_FLOATTEXT_H

#include <string>

namespace astra {

/// The fewest digits to which the number rounds and that read back; with an
/// exponent where that is shorter. The point is a point in every locale.
std::string floatText(double value);
std::string floatText(float value);

} // namespace astra
#endif // ASTRA_RUNTIME_FLOATTEXT_H
