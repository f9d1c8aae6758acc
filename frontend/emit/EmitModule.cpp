// The module: one function for each export and test, and what callers need to
// know of them: names, types as written, trees of leaves, struct definitions.
//
// A value's tree is JSON:
//   {"kind":"tensor","dtype":"f32","shape":["n","64"]}
//   {"kind":"struct","name":"nn.Dense<64,
//   32>","c_name":"digits_nn_Dense_64_32",
//    "fields":[{"name":"w","value":TREE}, ...]}
//   {"kind":"tuple","elements":[TREE, ...]}
//   {"kind":"array","count":4,"element":TREE}
#include "frontend/emit/Emitter.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace astra::emit {

static std::string visible(StringRef name) {
  return name.split('@').first.str();
}

//===-- Names and trees ---------------------------------------------------===//

/// The text with everything but letters and digits as single underscores.
static std::string sanitize(StringRef text) {
  std::string name;
  for (char c : text)
    if (llvm::isAlnum(c))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  return name;
}

/// "digits_Mlp", "digits_nn_Dense_64_32".
static std::string getCName(const hir::Program &program, hir::TypeRef type) {
  const hir::StructInfo &info = *type->decl;
  std::string name = sanitize(program.name);
  if (info.module != program.name)
    name += "_" + sanitize(info.module);
  name += "_" + sanitize(info.name);
  for (const Dim &dim : type->dimArgs)
    name += "_" + sanitize(dim.str(visible));
  for (hir::TypeRef arg : type->typeArgs)
    name += "_" + sanitize(hir::toString(arg));
  return name;
}

static void writeTree(llvm::json::OStream &json, const hir::Program &program,
                      hir::TypeRef type) {
  json.object([&] {
    switch (type->kind) {
    case hir::TypeKind::Tensor:
      json.attribute("kind", "tensor");
      json.attribute("dtype", hir::getName(type->dtype));
      json.attributeArray("shape", [&] {
        for (const Dim &dim : type->shape)
          json.value(dim.str(visible));
      });
      break;
    case hir::TypeKind::Struct:
      json.attribute("kind", "struct");
      json.attribute("name", hir::toString(type));
      json.attribute("c_name", getCName(program, type));
      json.attributeArray("fields", [&] {
        for (auto [i, field] : llvm::enumerate(type->elements))
          json.object([&, i = i, field = field] {
            json.attribute("name", type->decl->fieldNames[i]);
            json.attributeBegin("value");
            writeTree(json, program, field);
            json.attributeEnd();
          });
      });
      break;
    case hir::TypeKind::Array:
      json.attribute("kind", "array");
      json.attribute("count", type->count.asConstant().value_or(0));
      json.attributeBegin("element");
      writeTree(json, program, type->elements[0]);
      json.attributeEnd();
      break;
    case hir::TypeKind::Tuple:
    case hir::TypeKind::Fn:
      json.attribute("kind", "tuple");
      json.attributeArray("elements", [&] {
        for (hir::TypeRef element : type->elements)
          writeTree(json, program, element);
      });
      break;
    }
  });
}

static std::string getTree(const hir::Program &program, hir::TypeRef type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  writeTree(json, program, type);
  return text;
}

/// Paths as the program would write them: "m.layers[0].w", "t.1".
static void collectPaths(hir::TypeRef type, const std::string &path,
                         std::vector<std::string> &paths) {
  switch (type->kind) {
  case hir::TypeKind::Tensor:
    paths.push_back(path);
    return;
  case hir::TypeKind::Array:
    for (int64_t i = 0; i < type->count.asConstant().value_or(0); ++i)
      collectPaths(type->elements[0], path + "[" + std::to_string(i) + "]",
                   paths);
    return;
  default:
    for (auto [i, element] : llvm::enumerate(type->elements))
      collectPaths(element,
                   path + "." +
                       (type->kind == hir::TypeKind::Struct
                            ? type->decl->fieldNames[i]
                            : std::to_string(i)),
                   paths);
  }
}

//===-- Attributes of functions and the module ----------------------------===//

static ArrayAttr getTexts(OpBuilder &b, ArrayRef<std::string> texts) {
  SmallVector<StringRef> refs(texts.begin(), texts.end());
  return b.getStrArrayAttr(refs);
}

DictionaryAttr Emitter::describeValue(StringRef name, StringRef type,
                                      hir::TypeRef tree, StringRef path) {
  std::vector<std::string> paths;
  collectPaths(tree, path.str(), paths);
  return b.getDictionaryAttr({
      b.getNamedAttr("leaves", getTexts(b, paths)),
      b.getNamedAttr("name", b.getStringAttr(name)),
      b.getNamedAttr("tree", b.getStringAttr(getTree(program, tree))),
      b.getNamedAttr("type", b.getStringAttr(type)),
  });
}

/// A tuple is several results, anything else one.
DictionaryAttr Emitter::describeExport(const hir::Export &entry) {
  const hir::FnInstance &fn = *entry.fn;
  SmallVector<Attribute> in, out;
  for (auto [i, param] : llvm::enumerate(fn.params)) {
    std::string type = i < entry.paramTypes.size() ? entry.paramTypes[i]
                                                   : hir::toString(param->type);
    in.push_back(describeValue(param->name, type, param->type, param->name));
  }
  if (fn.result->kind == hir::TypeKind::Tuple) {
    for (auto [i, element] : llvm::enumerate(fn.result->elements)) {
      std::string name = "result." + std::to_string(i);
      out.push_back(describeValue(name, hir::toString(element), element, name));
    }
  } else {
    out.push_back(
        describeValue("result", entry.resultType, fn.result, "result"));
  }
  std::vector<std::string> dims;
  for (const std::string &name : fn.dimNames)
    dims.push_back(visible(name));
  return b.getDictionaryAttr({
      b.getNamedAttr("dims", getTexts(b, dims)),
      b.getNamedAttr("doc", b.getStringAttr(entry.doc)),
      b.getNamedAttr("in_values", b.getArrayAttr(in)),
      b.getNamedAttr("out_values", b.getArrayAttr(out)),
  });
}

/// Structs that exports use, inner ones first, each C name once.
ArrayAttr Emitter::describeStructs() {
  SmallVector<Attribute> structs;
  llvm::StringSet<> seen;
  for (hir::TypeRef type : program.exportedStructs) {
    std::string cName = getCName(program, type);
    if (!seen.insert(cName).second)
      continue;
    SmallVector<Attribute> fields;
    for (auto [i, field] : llvm::enumerate(type->elements)) {
      StringRef doc;
      if (i < type->decl->fieldDocs.size())
        doc = type->decl->fieldDocs[i];
      fields.push_back(b.getDictionaryAttr({
          b.getNamedAttr("doc", b.getStringAttr(doc)),
          b.getNamedAttr("name", b.getStringAttr(type->decl->fieldNames[i])),
          b.getNamedAttr("tree", b.getStringAttr(getTree(program, field))),
          b.getNamedAttr("type", b.getStringAttr(hir::toString(field))),
      }));
    }
    structs.push_back(b.getDictionaryAttr({
        b.getNamedAttr("c_name", b.getStringAttr(cName)),
        b.getNamedAttr("doc", b.getStringAttr(type->decl->doc)),
        b.getNamedAttr("fields", b.getArrayAttr(fields)),
        b.getNamedAttr("name", b.getStringAttr(hir::toString(type))),
    }));
  }
  return b.getArrayAttr(structs);
}

//===-- Functions ---------------------------------------------------------===//

LogicalResult Emitter::emitFunction(const hir::FnInstance &fn, StringRef symbol,
                                    StringRef device, NamedAttribute mark) {
  current = fn.name;
  listener.count = steps = 0;
  Frame frame;
  for (const std::string &name : fn.dimNames)
    frame.dims[name] = Dim::name(visible(name));
  SmallVector<Type> inputs;
  for (const hir::Local *param : fn.params)
    if (failed(getLeafTypes(param->type, frame, param->range, inputs)))
      return failure();
  Location loc = getLoc(fn.range);
  auto function =
      func::FuncOp::create(b, loc, symbol, b.getFunctionType(inputs, {}));
  function->setAttr(mark.getName(), mark.getValue());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(function.addEntryBlock());
  if (!device.empty())
    listener.device = b.getStringAttr(device);
  Result results = emitBody(fn, frame, function.getArguments());
  listener.device = nullptr;
  if (failed(results))
    return failure();
  func::ReturnOp::create(b, loc, *results);
  function.setFunctionType(b.getFunctionType(inputs, typesOf(*results)));
  return success();
}

LogicalResult Emitter::emitExport(const hir::Export &entry) {
  std::string device = entry.device;
  if (!device.empty())
    device += ":" + std::to_string(entry.deviceIndex);
  return emitFunction(
      *entry.fn, entry.fn->name, device,
      b.getNamedAttr(AstraDialect::kExportAttr, describeExport(entry)));
}

/// Tests have names that no function can have: "test.0".
LogicalResult Emitter::emitTest(const hir::Test &test, unsigned number) {
  std::string symbol = "test." + std::to_string(number);
  return emitFunction(
      *test.fn, symbol, "",
      b.getNamedAttr(AstraDialect::kTestAttr, b.getStringAttr(test.name)));
}

//===-- The module --------------------------------------------------------===//

Emitter::Emitter(const hir::Program &program, SourceManager &sources,
                 DiagnosticEngine &diags, MLIRContext &context,
                 const EmitOptions &options)
    : program(program), sources(sources), diags(diags), options(options),
      b(&context, &listener) {}

OwningOpRef<ModuleOp> Emitter::run() {
  OwningOpRef<ModuleOp> module(ModuleOp::create(b, b.getUnknownLoc()));
  (*module)->setAttr(AstraDialect::kModuleAttr, b.getStringAttr(program.name));
  if (ArrayAttr structs = describeStructs(); !structs.empty())
    (*module)->setAttr(AstraDialect::kStructsAttr, structs);
  b.setInsertionPointToStart(module->getBody());
  bool ok = true;
  if (options.exports)
    for (const hir::Export &entry : program.exports)
      if (options.only.empty() || options.only == entry.fn->name)
        ok &= succeeded(emitExport(entry));
  if (options.tests && options.only.empty())
    for (auto [i, test] : llvm::enumerate(program.tests))
      ok &= succeeded(emitTest(test, i));
  if (!ok || diags.hasErrors() || failed(verify(*module)))
    return nullptr;
  return module;
}

} // namespace astra::emit

OwningOpRef<ModuleOp> astra::emitProgram(const hir::Program &program,
                                         SourceManager &sources,
                                         DiagnosticEngine &diags,
                                         MLIRContext &context,
                                         const EmitOptions &options) {
  context.loadDialect<AstraDialect, func::FuncDialect>();
  return emit::Emitter(program, sources, diags, context, options).run();
}
