// See LaneCode.h. The bitcode is read lazily: only functions that are needed
// are ever parsed.
#include "passes/LaneCode.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

extern "C" const char _binary_lanes_bc_start[], _binary_lanes_bc_end[];

using namespace llvm;

static constexpr char Prefix[] = "astra_l_";

/// What the function was built for (a level, unwinding, names) is not what it
/// is used for.
static void makeGeneric(Function &function) {
  bool isInlined = function.hasFnAttribute(Attribute::AlwaysInline);
  function.removeFnAttrs(AttributeMask(function.getAttributes().getFnAttrs()));
  function.addFnAttr(Attribute::NoUnwind);
  function.addFnAttr("no-builtins");
  if (isInlined)
    function.addFnAttr(Attribute::AlwaysInline);
  function.setLinkage(GlobalValue::InternalLinkage);
  function.setComdat(nullptr);
  function.setDSOLocal(true);
}

static std::unique_ptr<Module> readLanes(Module &into, std::string &error) {
  StringRef bytes(_binary_lanes_bc_start,
                  _binary_lanes_bc_end - _binary_lanes_bc_start);
  Expected<std::unique_ptr<Module>> lanes =
      getLazyBitcodeModule(MemoryBufferRef(bytes, "lanes"), into.getContext());
  if (!lanes) {
    error = toString(lanes.takeError());
    return nullptr;
  }
  (*lanes)->setTargetTriple(into.getTargetTriple());
  (*lanes)->setDataLayout(into.getDataLayout());
  if (NamedMDNode *flags = (*lanes)->getModuleFlagsMetadata())
    flags->eraseFromParent();
  if (NamedMDNode *ident = (*lanes)->getNamedMetadata("llvm.ident"))
    ident->eraseFromParent();
  return std::move(*lanes);
}

bool astra::linkLanes(Module &module, std::string &error) {
  bool isNeeded = any_of(module, [](const Function &function) {
    return function.getName().starts_with(Prefix);
  });
  if (!isNeeded)
    return true;
  std::unique_ptr<Module> lanes = readLanes(module, error);
  if (!lanes)
    return false;
  StringSet<> own;
  for (Function &function : module)
    if (!function.isDeclaration())
      own.insert(function.getName());
  if (Linker::linkModules(module, std::move(lanes), Linker::LinkOnlyNeeded)) {
    error = "the vector forms of operations could not be linked";
    return false;
  }
  for (Function &function : module) {
    if (own.contains(function.getName()) || function.isIntrinsic())
      continue;
    if (function.isDeclaration()) {
      error = "there is no vector form \"" + function.getName().str() + "\"";
      return false;
    }
    makeGeneric(function);
  }
  return true;
}
