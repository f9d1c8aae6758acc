// The dialect's set-up, its interfaces, and the attributes that it puts on
// functions and modules.
#include "dialect/AstraDialect.h"
#include "dialect/AstraOps.h"

using namespace mlir;

#include "dialect/AstraDialect.cpp.inc"
#include "dialect/Interfaces.cpp.inc"

namespace astra {

void AstraDialect::initialize() {
  registerTypes();
#define ASTRA_FAMILY(Name) register##Name##Ops();
#include "dialect/Families.def"
}

Operation *AstraDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  auto typed = dyn_cast<TypedAttr>(value);
  auto tensor = dyn_cast<TensorType>(type);
  if (!typed || !tensor || typed.getType() != tensor.getElementType())
    return nullptr;
  return ConstOp::create(builder, loc, type, typed);
}

LogicalResult AstraDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == kExportAttr) {
    if (!isa<DictionaryAttr>(attr.getValue()))
      return op->emitError() << "'" << name << "' must be a dictionary";
    return success();
  }
  if (name == kStructsAttr) {
    if (!isa<ArrayAttr>(attr.getValue()))
      return op->emitError() << "'" << name << "' must be an array";
    return success();
  }
  if (name == kTestAttr || name == kModuleAttr || name == kDeviceAttr) {
    if (!isa<StringAttr>(attr.getValue()))
      return op->emitError() << "'" << name << "' must be a string";
    return success();
  }
  return success();
}

void addFailureEffect(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}

} // namespace astra
