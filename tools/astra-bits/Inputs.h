// Inputs that are made: the same bits for a seed on every machine, by integer
// arithmetic and roundings of one's own; and elements as they are hashed, with
// one NaN. Knows dtypes and bytes, no runtime.
#ifndef ASTRA_TOOLS_ASTRA_BITS_INPUTS_H
#define ASTRA_TOOLS_ASTRA_BITS_INPUTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace astra {

/// What values an input gets.
enum class Kind {
  Plain,   // floats around 0, integers from 0 to 4
  Special, // with NaN, infinities, subnormals, the ends of ranges
  Binary   // floats around 0, integers 0 and 1
};
const char *getKindName(Kind kind);

/// Bytes of one element of a dtype; 0 if this program does not know it.
unsigned getElementBytes(uint32_t dtype);

/// `count` elements. Integers that stand alone stay small (they count steps).
std::vector<char> makeElements(uint32_t dtype, size_t count, bool isScalar,
                               Kind kind, uint64_t seed);

/// A number as an element of a dtype; false if it is none.
bool parseElement(const std::string &text, uint32_t dtype,
                  std::vector<char> &bytes);

/// Every NaN becomes the canonical one.
void canonicalise(uint32_t dtype, std::vector<char> &bytes);

/// "f32"
std::string nameDtype(uint32_t dtype);
/// "1.5 (3fc00000)"
std::string printElement(uint32_t dtype, const char *bytes);

/// A well mixed word of several.
uint64_t mixSeed(uint64_t seed, uint64_t word);
uint64_t mixSeed(uint64_t seed, const std::string &text);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_BITS_INPUTS_H
