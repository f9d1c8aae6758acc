// See FusedCode.h. Here are the records; FusedBlock.cpp has the functions that
// they speak of.
#include "passes/FusedCode.h"
#include "passes/FusedBlock.h"
#include "passes/Target.h"

using namespace mlir;
using namespace astra;

namespace {
/// The kinds of slots by name.
uint32_t getSlotKind(StringRef name) {
  static constexpr llvm::StringLiteral names[] = {
      "arg", "row", "scalar", "sum", "prod", "max", "min", "top"};
  return llvm::find(names, name) - std::begin(names);
}

/// The records of one kernel; its functions are made on the way.
Record buildFused(calls::FusedOp fused, ModuleOp module,
                  Descriptor &descriptor) {
  GlobalTables &tables = descriptor.getTables();
  std::vector<Record> slots, stages;
  for (auto [kind, type] : llvm::zip(fused.getKinds().getAsRange<StringAttr>(),
                                     fused.getTypes().getAsRange<TypeAttr>()))
    slots.push_back({Field::i32(getSlotKind(kind.getValue())),
                     Field::i32(getDTypeWord(type.getValue()))});
  for (auto stage : fused.getBody().getOps<calls::StageOp>()) {
    Record record;
    for (const BlockTarget &level : getTarget(module).blocks) {
      std::string name = ("astra." + fused.getSymName() + "." +
                          Twine(stages.size()) + "." + level.suffix)
                             .str();
      buildBlock(stage, module, level, name);
      record.push_back(Field::address(name));
    }
    while (record.size() < ASTRA_BLOCK_LEVELS)
      record.push_back(record.back());
    SmallVector<int64_t> operands(stage.getInputs());
    llvm::append_range(operands, stage.getOutputs());
    record.push_back(Field::address(tables.addWords(operands)));
    record.push_back(Field::i32(stage.getInputs().size()));
    record.push_back(Field::i32(stage.getOutputs().size()));
    record.push_back(Field::i32(stage.getPerRow()));
    record.push_back(Field::i32(0));
    stages.push_back(std::move(record));
  }
  return {Field::address(tables.addString(fused.getSymName())),
          Field::address(tables.addString(fused.getOps())),
          Field::i32(fused.getArgs()),
          Field::i32(fused.getRows()),
          Field::i64(slots.size()),
          Field::address(tables.addTable(slots)),
          Field::i64(stages.size()),
          Field::address(tables.addTable(stages))};
}
} // namespace

Type astra::getStorageType(OpBuilder &builder, Type element) {
  if (element.isF32() || element.isF64())
    return element;
  return builder.getIntegerType(std::max(element.getIntOrFloatBitWidth(), 8u));
}

void astra::lowerFusedKernels(ModuleOp module, Descriptor &descriptor) {
  SmallVector<calls::FusedOp> kernels(module.getOps<calls::FusedOp>());
  std::vector<Record> records;
  SmallVector<StringRef> names;
  for (calls::FusedOp fused : kernels) {
    records.push_back(buildFused(fused, module, descriptor));
    descriptor.addFusedPlaces(fused.getLoc());
    names.push_back(fused.getSymName());
  }
  descriptor.addFused(names, records);
  for (calls::FusedOp fused : kernels)
    fused.erase();
}
