// See Target.h. A module carries its target as LLVM's own attribute.
#include "passes/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace astra;

/// To ask for memory that will be written is no part of a level.
static constexpr BlockTarget x86Blocks[] = {
    {"v3", "x86-64-v3", "256", "+prfchw", false},
    {"v4", "x86-64-v4", "512", "+prfchw", true}};
static constexpr BlockTarget armBlocks[] = {
    {"neon", "generic", "128", "", false}};
static_assert(std::size(x86Blocks) == ASTRA_BLOCK_LEVELS);

static const Target targets[] = {
    {"x86_64-linux-gnu", "x86_64-unknown-linux-gnu", "x86-64-v3", "x86-64-v3",
     x86Blocks},
    {"aarch64-linux-gnu", "aarch64-unknown-linux-gnu", "generic",
     "aarch64-neon", armBlocks}};

ArrayRef<Target> astra::getTargets() { return targets; }

const Target *astra::findTarget(StringRef name) {
  for (const Target &target : targets)
    if (name == target.name)
      return &target;
  return nullptr;
}

std::string astra::getTargetNames() {
  return llvm::join(
      llvm::map_range(targets, [](const Target &t) { return t.name; }), ", ");
}

static StringRef getAttributeName() {
  return LLVM::LLVMDialect::getTargetTripleAttrName();
}

void astra::setTarget(ModuleOp module, const Target &target) {
  module->setAttr(getAttributeName(),
                  StringAttr::get(module.getContext(), target.triple));
}

const Target &astra::getTarget(ModuleOp module) {
  if (auto triple = module->getAttrOfType<StringAttr>(getAttributeName()))
    for (const Target &target : targets)
      if (triple.getValue() == target.triple)
        return target;
  return targets[0];
}
