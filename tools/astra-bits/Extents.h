// Dimensions of an export: values to try, and the extents that shape
// expressions have for them. Knows the text of a dimension expression, no
// runtime.
#ifndef ASTRA_TOOLS_ASTRA_BITS_EXTENTS_H
#define ASTRA_TOOLS_ASTRA_BITS_EXTENTS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace astra {

using Extents = std::map<std::string, int64_t>;

/// The value of "2*d + 1"; nothing if a name is unknown, the value is negative
/// or a divisor is 0.
std::optional<int64_t> evaluateExtent(const std::string &text,
                                      const Extents &dims);

/// Values for dimensions in the order to try them: odd ones first, then equal
/// powers of two, which satisfy most programs that want divisible extents.
std::vector<Extents> getCandidates(const std::vector<std::string> &names,
                                   bool large);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_BITS_EXTENTS_H
