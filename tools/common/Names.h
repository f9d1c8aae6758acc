// How the tools without a compiler write dtypes, numbers and JSON strings.
#ifndef ASTRA_TOOLS_COMMON_NAMES_H
#define ASTRA_TOOLS_COMMON_NAMES_H

#include <cstdint>
#include <string>

namespace astra {

/// "f32", or "dtype 0x..." for one that is not known.
std::string getDtypeName(uint32_t dtype);

/// The bytes of an element; 0 for a dtype that is not known.
size_t getDtypeBytes(uint32_t dtype);

/// With its quotes.
std::string quoteJson(const std::string &text);

} // namespace astra
#endif // ASTRA_TOOLS_COMMON_NAMES_H
