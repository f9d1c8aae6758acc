// What gradient and batching rules are written with: a thin layer over
// OpBuilder that makes the dialect's operations from values and lets obvious
// identities (a factor 1, a double negation, a transpose that moves nothing)
// fall away as they are built, so that a derivative contains no operation that
// a careful person would not have written. Every identity is exact in IEEE
// arithmetic. This file knows operations and values, and no pass.
//
// A null Value is a cotangent or tangent that is zero and was never made.
#ifndef ASTRA_DIALECT_BUILDER_H
#define ASTRA_DIALECT_BUILDER_H

#include "dialect/AstraOps.h"

namespace astra {

using mlir::ArrayRef;
using mlir::Attribute;
using mlir::Location;
using mlir::NamedAttribute;
using mlir::OpBuilder;
using mlir::SmallVector;
using mlir::SmallVectorImpl;
using mlir::StringRef;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

using Axes = SmallVector<int64_t>;

inline TensorType typeOf(Value v) {
  return mlir::cast<TensorType>(v.getType());
}
inline int64_t rankOf(Value v) { return typeOf(v).getRank(); }
inline SmallVector<Dim> shapeOf(Value v) { return typeOf(v).getShape(); }
/// Only these have tangents and cotangents.
inline bool isFloatTensor(Value v) { return isFloatTensor(v.getType()); }
/// The axes 0 .. rank-1 that are not in `axes`, ascending.
Axes complement(ArrayRef<int64_t> axes, int64_t rank);
Axes iotaAxes(int64_t count);
/// The float that every element of a constant has.
std::optional<double> splatOf(Value v);

class RuleBuilder {
public:
  RuleBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  template <typename Op>
  Value make(Type result, ValueRange operands,
             ArrayRef<NamedAttribute> attrs = {}) {
    return Op::create(b, loc, mlir::TypeRange{result}, operands, attrs)
        ->getResult(0);
  }
  template <typename Op> Value unary(Value x) {
    return make<Op>(x.getType(), {x});
  }
  template <typename Op> Value binary(Value x, Value y) {
    return make<Op>(x.getType(), {x, y});
  }
  template <typename Op> Value compare(Value x, Value y) {
    return make<Op>(boolLike(x), {x, y});
  }
  template <typename Op> Value axisOp(Value x, int64_t axis) {
    return make<Op>(x.getType(), {x}, {integer("axis", axis)});
  }

  // Attributes, named as the dialect names them.
  NamedAttribute integer(StringRef name, int64_t value);
  NamedAttribute ints(StringRef name, ArrayRef<int64_t> values);
  NamedAttribute dimension(StringRef name, const Dim &value);
  NamedAttribute dims(StringRef name, ArrayRef<Dim> values);
  NamedAttribute unit(StringRef name);

  // Constants. Of a tape: a new one, which is all zeros.
  Value splat(Type type, double value);
  Value splatLike(Value like, double value) {
    return splat(like.getType(), value);
  }
  Value zeros(Type type) { return splat(type, 0); }
  Value dim(const Dim &value); // i64 scalar
  Value iota(TensorType type, int64_t axis);
  TensorType boolLike(Value x);

  // Arithmetic.
  Value add(Value x, Value y); // a null operand is zero
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value scale(Value x, double factor);
  Value div(Value x, Value y);
  Value neg(Value x);
  Value square(Value x) { return mul(x, x); }
  Value select(Value condition, Value ifTrue, Value ifFalse);
  Value convert(Value x, Type element);

  // Shapes.
  Value broadcast(Value x, TensorType type, ArrayRef<int64_t> axes);
  /// The value of a reduction over `axes`, back over the shape of `like`.
  Value expand(Value reduced, Value like, ArrayRef<int64_t> axes);
  /// A scalar to the type's shape.
  Value fill(Value scalar, TensorType type);
  Value reshape(Value x, TensorType type);
  Value transpose(Value x, ArrayRef<int64_t> perm);
  /// `x` with `axis` moved to `to`, the others in their order.
  Value moveAxis(Value x, int64_t from, int64_t to);
  /// Axes `axes` moved to the end and made one.
  Value flattenLast(Value x, ArrayRef<int64_t> axes);
  /// The inverse, to the shape of `like`.
  Value unflattenLast(Value x, Value like, ArrayRef<int64_t> axes);
  Value slice(Value x, ArrayRef<Dim> starts, ArrayRef<Dim> sizes);
  Value sliceAxis(Value x, int64_t axis, const Dim &start, const Dim &size);
  Value pad(Value x, Value fill, ArrayRef<Dim> low, ArrayRef<Dim> high);
  Value padAxis(Value x, double fill, int64_t axis, const Dim &low,
                const Dim &high);
  Value flip(Value x, ArrayRef<int64_t> axes);
  Value concat(ValueRange parts, int64_t axis);

  // Reductions and products.
  Value sum(Value x, ArrayRef<int64_t> axes);
  /// Product over each position of the elements before it along `axis`.
  Value exclusiveCumProd(Value x, int64_t axis);
  /// s[k] = a[k] * s[k - 1] + c[k] along `axis`, s[-1] = 0.
  Value linearRecurrence(Value a, Value c, int64_t axis);
  Value contract(Value x, Value y, ArrayRef<int64_t> batchX,
                 ArrayRef<int64_t> batchY, ArrayRef<int64_t> overX,
                 ArrayRef<int64_t> overY);

  // Indexing.
  Value gather(Value x, ValueRange indices, ArrayRef<int64_t> axes);
  Value scatter(Value x, Value value, ValueRange indices,
                ArrayRef<int64_t> axes, bool add);
  /// One index array per axis, with `index` on `axis` and the own position on
  /// the others: what gather and scatter need to move elements along one axis.
  SmallVector<Value> indicesAlong(Value index, int64_t axis);

  // Tapes.
  Value readTape(Value tape, Value index);
  Value writeTape(Value tape, Value index, Value value, bool add = false);

  OpBuilder &getBuilder() { return b; }
  Location getLoc() const { return loc; }

private:
  OpBuilder &b;
  Location loc;
};

} // namespace astra
#endif // ASTRA_DIALECT_BUILDER_H
