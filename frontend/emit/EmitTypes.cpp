// Types, extents and places. Extents of the typed program speak of the
// dimensions of the function they stand in; here they become expressions in the
// dimensions of the emitted function.
#include "frontend/emit/Emitter.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace astra::emit {

Dim Emitter::substitute(const Dim &dim, const Frame &frame) {
  if (dim.asConstant())
    return dim;
  return dim.substitute([&](StringRef name) -> std::optional<Dim> {
    auto it = frame.dims.find(name.str());
    if (it != frame.dims.end())
      return it->second;
    return Dim::name(name.split('@').first);
  });
}

Type Emitter::getElementType(hir::DType dtype) {
  switch (dtype) {
  case hir::DType::Bool:
    return b.getI1Type();
  case hir::DType::I8:
    return b.getI8Type();
  case hir::DType::I16:
    return b.getI16Type();
  case hir::DType::I32:
    return b.getI32Type();
  case hir::DType::I64:
    return b.getI64Type();
  case hir::DType::U8:
    return b.getIntegerType(8, /*isSigned=*/false);
  case hir::DType::U16:
    return b.getIntegerType(16, /*isSigned=*/false);
  case hir::DType::U32:
    return b.getIntegerType(32, /*isSigned=*/false);
  case hir::DType::U64:
    return b.getIntegerType(64, /*isSigned=*/false);
  case hir::DType::F16:
    return b.getF16Type();
  case hir::DType::BF16:
    return b.getBF16Type();
  case hir::DType::F32:
    return b.getF32Type();
  case hir::DType::F64:
    return b.getF64Type();
  }
  return {};
}

FailureOr<TensorType> Emitter::getType(hir::TypeRef tensor, const Frame &frame,
                                       SourceRange range) {
  SmallVector<Dim> shape;
  for (const Dim &extent : tensor->shape) {
    Dim dim = substitute(extent, frame);
    if (dim.hasOverflow())
      return fail(DiagCode::dimension_overflow, range,
                  "an extent of `" + hir::toString(tensor) +
                      "` does not fit 64 bits");
    if (dim.asConstant().value_or(0) < 0)
      return fail(DiagCode::negative_extent, range,
                  "in `" + current + "` an extent of `" +
                      hir::toString(tensor) + "` is " + dim.str());
    shape.push_back(dim);
  }
  return TensorType::get(b.getContext(), getElementType(tensor->dtype), shape);
}

LogicalResult Emitter::getLeafTypes(hir::TypeRef type, const Frame &frame,
                                    SourceRange range,
                                    SmallVectorImpl<Type> &types) {
  if (type->kind == hir::TypeKind::Tensor) {
    FailureOr<TensorType> leaf = getType(type, frame, range);
    if (failed(leaf))
      return failure();
    types.push_back(*leaf);
    return success();
  }
  size_t repeat =
      type->kind == hir::TypeKind::Array ? getCount(type, frame) : 1;
  for (size_t i = 0; i < repeat; ++i)
    for (hir::TypeRef element : type->elements)
      if (failed(getLeafTypes(element, frame, range, types)))
        return failure();
  return success();
}

/// How many elements an array has: the checker only lets constants through.
size_t Emitter::getCount(hir::TypeRef array, const Frame &frame) {
  int64_t count = substitute(array->count, frame).asConstant().value_or(0);
  return std::max<int64_t>(count, 0);
}

size_t Emitter::getLeafCount(hir::TypeRef type, const Frame &frame) {
  if (type->kind == hir::TypeKind::Tensor)
    return 1;
  size_t sum = 0;
  for (hir::TypeRef element : type->elements)
    sum += getLeafCount(element, frame);
  return type->kind == hir::TypeKind::Array ? sum * getCount(type, frame) : sum;
}

Location Emitter::getLoc(SourceRange range) {
  LocationAttr &loc = locations[{range.file, range.begin}];
  if (!loc) {
    LineColumn place = sources.getLineColumn(range.file, range.begin);
    StringRef name = llvm::sys::path::filename(sources.getPath(range.file));
    loc = FileLineColLoc::get(b.getContext(), name, place.line, place.column);
  }
  return Location(loc);
}

} // namespace astra::emit
