// See Object.h. Entries are for the target's least processor, blocks of fused
// kernels for the level that they state; no library function is known to the
// optimiser, so that it makes no calls of any, and no flag that would let it
// change a rounding is set. Bytes depend on the module alone.
#include "passes/Object.h"
#include "passes/BlockOrder.h"
#include "passes/LaneCode.h"
#include "passes/Target.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeAArch64TargetInfo();
void LLVMInitializeAArch64Target();
void LLVMInitializeAArch64TargetMC();
void LLVMInitializeAArch64AsmPrinter();
}

using namespace astra;

void astra::registerObjectTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

static void initializeTarget(const llvm::Triple &triple) {
  if (triple.isAArch64()) {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    return;
  }
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}

static std::unique_ptr<llvm::TargetMachine>
makeTarget(const Target &machine, unsigned level, std::string &error) {
  llvm::Triple triple(machine.triple);
  initializeTarget(triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  auto codegen = level == 0   ? llvm::CodeGenOptLevel::None
                 : level == 1 ? llvm::CodeGenOptLevel::Less
                              : llvm::CodeGenOptLevel::Default;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, machine.cpu, "", options,
                                  llvm::Reloc::PIC_, std::nullopt, codegen));
}

static std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module,
                                               llvm::LLVMContext &context,
                                               std::string &error) {
  auto ir = mlir::translateModuleToLLVMIR(module, context, "astra");
  if (!ir) {
    error = "the program could not be translated to LLVM";
    return nullptr;
  }
  // The name of the source stands in the object's symbol table.
  ir->setSourceFileName("astra");
  const Target &machine = getTarget(module);
  ir->setTargetTriple(llvm::Triple(machine.triple));
  for (llvm::Function &function : *ir) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (!function.hasFnAttribute("target-cpu"))
      function.addFnAttr("target-cpu", machine.cpu);
    function.addFnAttr("no-builtins");
  }
  return ir;
}

/// Whether the operations of blocks are put into an order here; the times that
/// it goes by are those of x86.
static bool ordersOperations(const llvm::Triple &triple) {
  return triple.isX86();
}

namespace {
/// LLVM's passes over one module. Blocks of fused kernels are straight code of
/// finished pieces: little is left to do there.
class Optimiser {
public:
  Optimiser(llvm::Module &ir, llvm::TargetMachine &target, unsigned level)
      : ir(ir), level(level), builder(&target), library(ir.getTargetTriple()) {
    library.disableAllFunctions();
    functions.registerPass(
        [this] { return llvm::TargetLibraryAnalysis(library); });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graph, modules);
  }

  /// Everything that astrac writes itself; the vector forms are not there yet.
  /// LLVM's own pipelines take three times as long and find nothing more:
  /// nothing is left to inline, to unroll or to vectorise.
  void runOnModule() {
    if (level == 0)
      return;
    llvm::LoopPassManager loopPasses;
    loopPasses.addPass(llvm::LoopRotatePass());
    loopPasses.addPass(llvm::LICMPass(llvm::LICMOptions()));
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(
        std::move(loopPasses), /*UseMemorySSA=*/true));
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::InstCombinePass());
    if (level > 1) {
      passes.addPass(llvm::GVNPass());
      passes.addPass(llvm::DSEPass());
      passes.addPass(llvm::SimplifyCFGPass());
    }
    for (llvm::Function &function : ir)
      if (!function.isDeclaration())
        passes.run(function, functions);
  }

  void runOnBlocks() {
    llvm::ModulePassManager inlining;
    inlining.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    inlining.addPass(llvm::GlobalDCEPass());
    inlining.run(ir, modules);
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    if (level > 0) {
      passes.addPass(llvm::EarlyCSEPass());
      passes.addPass(llvm::InstCombinePass());
      passes.addPass(llvm::SimplifyCFGPass());
    }
    for (llvm::Function &function : ir) {
      unsigned bits =
          function.getFnAttributeAsParsedInteger("prefer-vector-width");
      if (!bits)
        continue;
      passes.run(function, functions);
      if (level > 0 && ordersOperations(ir.getTargetTriple()))
        orderOperations(function, bits);
    }
  }

private:
  llvm::Module &ir;
  unsigned level;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  llvm::TargetLibraryInfoImpl library;
};
} // namespace

/// The code generator, which writes an object; true if there is none. It leaves
/// the operations in their order where that has been chosen.
static bool addCodeGenerator(llvm::TargetMachine &target,
                             llvm::legacy::PassManager &passes,
                             llvm::raw_pwrite_stream &stream) {
  auto &machine = static_cast<llvm::CodeGenTargetMachineImpl &>(target);
  auto *config = machine.createPassConfig(passes);
  if (ordersOperations(target.getTargetTriple()))
    config->disablePass(&llvm::MachineSchedulerID);
  auto *functions = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(config);
  passes.add(functions);
  if (config->addISelPasses())
    return true;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr,
                            llvm::CodeGenFileType::ObjectFile,
                            functions->getMMI().getContext()))
    return true;
  passes.add(llvm::createFreeMachineFunctionPass());
  return false;
}

bool astra::emitObject(mlir::ModuleOp module, const ObjectOptions &options,
                       llvm::SmallVectorImpl<char> &bytes, std::string &error) {
  auto target = makeTarget(getTarget(module), options.optimisation, error);
  if (!target)
    return false;
  llvm::LLVMContext context;
  auto ir = translate(module, context, error);
  if (!ir)
    return false;
  ir->setDataLayout(target->createDataLayout());
  Optimiser optimiser(*ir, *target, options.optimisation);
  optimiser.runOnModule();
  if (!linkLanes(*ir, error))
    return false;
  optimiser.runOnBlocks();
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (addCodeGenerator(*target, passes, stream)) {
    error = "this build of LLVM cannot write objects of " +
            std::string(getTarget(module).name);
    return false;
  }
  passes.run(*ir);
  return true;
}

bool astra::emitLLVMText(mlir::ModuleOp module, std::string &text,
                         std::string &error) {
  llvm::LLVMContext context;
  auto ir = translate(module, context, error);
  if (!ir)
    return false;
  llvm::raw_string_ostream stream(text);
  ir->print(stream, nullptr);
  return true;
}
