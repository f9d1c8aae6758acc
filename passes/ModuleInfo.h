// What a function of a module says about itself to its callers: names, types
// and leaves, read from the attributes that the emitter wrote. The descriptor
// and the C header are made from it. Knows no bodies.
//
// `astra.export` is a dictionary:
//   doc        = "text"
//   dims       = ["n"]
//   in_values  = [{name = "m", type = "Mlp", tree = "JSON", leaves = ["m.w"]}]
//   out_values = likewise, one for the result
// `leaves` are the paths of the value's leaves in order; `tree` covers them:
//   {"kind": "tensor", "dtype": "f32", "shape": ["n", "64"]}
//   {"kind": "struct", "name": "nn.Dense<64, 32>", "c_name":
//   "digits_nn_Dense_64_32",
//    "fields": [{"name": "w", "value": TREE}, ...]}
//   {"kind": "tuple", "elements": [TREE, ...]}
//   {"kind": "array", "count": 4, "element": TREE}
// `astra.structs` on the module lists the structs of the header, inner ones
// first: dictionaries of c_name, name, doc and fields (name, doc, type, tree).
#ifndef ASTRA_PASSES_MODULEINFO_H
#define ASTRA_PASSES_MODULEINFO_H

#include "dialect/CallsOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace astra {

struct LeafInfo {
  std::string path; // "m.hidden.w"
  mlir::Type element;
  std::vector<Dim> shape;
};

struct ValueInfo {
  std::string name, type, tree;
  unsigned firstLeaf = 0, leafCount = 0;
};

struct ExportInfo {
  std::string name, symbol, doc;
  std::vector<std::string> dims;
  std::vector<ValueInfo> inValues, outValues;
  std::vector<LeafInfo> inLeaves, outLeaves;
  bool isTest = false;
};

struct FieldInfo {
  std::string name, doc, type, tree;
};
struct StructInfo {
  std::string cName, name, doc;
  std::vector<FieldInfo> fields;
};

/// The structs that the header declares.
std::vector<StructInfo> readStructs(mlir::ModuleOp module);

/// Of a function whose types are tensors (`astra`) or views (`calls`).
ExportInfo readExport(mlir::func::FuncOp function);

/// The `astra.module` attribute, or "module".
std::string getModuleName(mlir::ModuleOp module);

/// The dtype word of module.h.
uint32_t getDTypeWord(mlir::Type element);

} // namespace astra
#endif // ASTRA_PASSES_MODULEINFO_H
