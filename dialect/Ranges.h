// What can be said of the integers in a tensor before the program runs: enough
// to prove that loop counters, iotas and constants are inside an axis.
#ifndef ASTRA_DIALECT_RANGES_H
#define ASTRA_DIALECT_RANGES_H

#include "dialect/AstraOps.h"

namespace astra {

/// All elements are at least `low` and at most `high`.
struct ValueRangeOfDims {
  Dim low, high;
};

/// The expression that an i64 scalar is, if it is a constant or a dimension.
std::optional<Dim> getDimOf(mlir::Value value);
/// Bounds of the elements, as expressions in the dimensions.
std::optional<ValueRangeOfDims> getBounds(mlir::Value value);
/// True if 0 <= every element <= last, for all values of the dimensions for
/// which there are elements.
bool isProvablyWithin(mlir::Value value, const Dim &last);

} // namespace astra
#endif // ASTRA_DIALECT_RANGES_H
