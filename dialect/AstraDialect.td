// The dialect itself. Families of operations (the *Ops.td files) register
// themselves, each from its own translation unit.
#ifndef ASTRA_DIALECT_TD
#define ASTRA_DIALECT_TD

include "mlir/IR/OpBase.td"

def Astra_Dialect : Dialect {
  let name = "astra";
  let cppNamespace = "::astra";
  let summary = "What an Astra program means, as operations on immutable tensors";
  let description = [{
    A program of the `astra` dialect is a module of `func.func`s, one for each
    exported function and each test. All calls are inlined: a function's types
    speak only of its own dimension names, so every extent is a closed
    expression that is known when the function is entered, and there is no
    arithmetic on extents in the IR.

    Values are immutable tensors; a scalar is a tensor of rank 0. Broadcasts are
    explicit. Operations that may fail when the program runs (an index out of
    range, an integer division by zero) have an effect, so a check that the
    language promises is never removed; where the failure is provably
    impossible, they have none.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// `astra.export`: dictionary on a `func.func` that becomes an entry.
    static constexpr llvm::StringLiteral kExportAttr = "astra.export";
    /// `astra.test`: a test's name, on its `func.func`.
    static constexpr llvm::StringLiteral kTestAttr = "astra.test";
    /// `astra.module`: the program's name, on the module.
    static constexpr llvm::StringLiteral kModuleAttr = "astra.module";
    /// `astra.structs`: struct definitions for the header, on the module.
    static constexpr llvm::StringLiteral kStructsAttr = "astra.structs";
    /// `astra.device`: "cuda:0" on an operation that `on` placed.
    static constexpr llvm::StringLiteral kDeviceAttr = "astra.device";

    /// Each family registers its own operations, in its own file.
#define ASTRA_FAMILY(Name) void register##Name##Ops();
#include "dialect/Families.def"

  private:
    void registerTypes();

  public:
  }];
}

#endif // ASTRA_DIALECT_TD
