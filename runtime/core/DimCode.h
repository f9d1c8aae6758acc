// Dimension expressions at run time: checking and evaluating the postfix code
// of descriptors, and finding the dimensions from the extents of inputs.
#ifndef ASTRA_RUNTIME_DIMCODE_H
#define ASTRA_RUNTIME_DIMCODE_H

#include "astra/module.h"
#include "core/Status.h"
#include <optional>
#include <vector>

namespace astra {

/// Whether the code is well formed over `dimCount` names.
bool isValidDimCode(const astra_dim_expr_t &expression, uint64_t dimCount);

/// The value for given dimensions; overflow and division by zero are errors
/// that name the expression.
Status evaluateDim(const astra_dim_expr_t &expression, const int64_t *dims,
                   int64_t &value);

/// A dimension that an input's extent decides, and its value.
struct Solution {
  uint64_t name;
  int64_t value;
};

/// If the expression is a*d + b in exactly one unknown dimension d, and this
/// equals `extent` for a whole d, that d. `known[i]` says which are known.
std::optional<Solution> solveDim(const astra_dim_expr_t &expression,
                                 int64_t extent, const int64_t *dims,
                                 const std::vector<bool> &known);

} // namespace astra
#endif // ASTRA_RUNTIME_DIMCODE_H
