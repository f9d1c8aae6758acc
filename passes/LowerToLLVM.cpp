// The pass `llvm`: functions over buffers become entry functions of module.h,
// in the LLVM dialect, and the module gets its descriptor. Structured control
// flow is flattened first; then come the bodies (EntryBody); arithmetic goes
// through MLIR's own conversions. Knows the object ABI (through EntryFrame and
// Descriptor), nothing of tensors.
#include "passes/EntryBody.h"
#include "passes/FusedCode.h"
#include "passes/Passes.h"
#include "passes/Target.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace astra;

namespace astra {
#define GEN_PASS_DEF_LOWERTOLLVMPASS
#include "passes/Passes.h.inc"
} // namespace astra

namespace {
class LowerToLLVM : public astra::impl::LowerToLLVMPassBase<LowerToLLVM> {
public:
  using Base = astra::impl::LowerToLLVMPassBase<LowerToLLVM>;
  using Base::Base;
  void runOnOperation() final;

private:
  LogicalResult flatten(ModuleOp module);
  LogicalResult convertArithmetic(ModuleOp module);
  LogicalResult lowerFunction(func::FuncOp function, unsigned index,
                              Descriptor &descriptor);
};

LogicalResult LowerToLLVM::flatten(ModuleOp module) {
  RewritePatternSet patterns(&getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

LogicalResult LowerToLLVM::convertArithmetic(ModuleOp module) {
  LowerToLLVMOptions lowering(&getContext());
  LLVMTypeConverter converter(&getContext(), lowering);
  RewritePatternSet patterns(&getContext());
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  ConversionTarget target(getContext());
  target.addLegalDialect<LLVM::LLVMDialect>();
  target.addLegalOp<ModuleOp>();
  target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect>();
  return applyPartialConversion(module, target, std::move(patterns));
}

LogicalResult LowerToLLVM::lowerFunction(func::FuncOp function, unsigned index,
                                         Descriptor &descriptor) {
  ExportInfo info = readExport(function);
  SmallVector<Dim> extents;
  if (auto texts = function->getAttrOfType<ArrayAttr>("calls.extents"))
    extents = calls::getDims(texts);
  Dim workspace;
  if (auto bytes = function->getAttrOfType<StringAttr>("calls.workspace"))
    workspace = Dim::parse(bytes.getValue()).value_or(Dim());
  unsigned most = 1;
  function.walk([&](calls::KernelOp op) {
    most = std::max<unsigned>(most, op->getNumOperands());
  });
  std::string symbol = "astra.entry." + std::to_string(index);
  EntryFrame frame(function, symbol, info, descriptor, most);
  if (failed(lowerEntryBody(function, frame, descriptor)))
    return failure();
  if (auto pairs =
          function->getAttrOfType<DenseI64ArrayAttr>("calls.donations"))
    for (int64_t i = 0; i + 1 < pairs.size(); i += 2)
      descriptor.addDonation(unsigned(pairs[i]), unsigned(pairs[i + 1]));
  descriptor.addExport(info, symbol, function.getLoc(), extents, workspace);
  function.erase();
  return success();
}

void LowerToLLVM::runOnOperation() {
  ModuleOp module = getOperation();
  std::string name = getModuleName(module);
  const Target *machine = findTarget(target);
  setTarget(module, machine ? *machine : getTargets().front());
  if (failed(flatten(module)))
    return signalPassFailure();
  Descriptor descriptor(module);
  lowerFusedKernels(module, descriptor);
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  for (const auto &[index, function] : llvm::enumerate(functions))
    if (failed(lowerFunction(function, index, descriptor)))
      return signalPassFailure();
  DescriptorOptions about;
  about.compiler = compiler;
  about.options = stated;
  about.loadable = loadable;
  about.cpuLevels = getTarget(module).level;
  descriptor.finish(name, about);
  if (failed(convertArithmetic(module)))
    return signalPassFailure();
  SmallVector<StringAttr> foreign;
  for (NamedAttribute attr : module->getAttrs())
    if (attr.getName().strref().starts_with("astra."))
      foreign.push_back(attr.getName());
  for (StringAttr attr : foreign)
    module->removeAttr(attr);
}

} // namespace
