// See CHeader.h. The header uses only the public API (astra.h) and is C99 and
// C++. A struct of the program is a C struct of tensor handles in the order of
// its fields; scalars are given by value; results are handles.
#include "passes/CHeader.h"
#include "passes/CNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace astra;

namespace {
namespace json = llvm::json;

/// A tree of tensors as the header sees it.
struct Tree {
  enum Kind { Tensor, Struct, Tuple, Array } kind = Tensor;
  std::string type;                // Tensor, Struct: as in the program
  std::string cName;               // Struct
  std::vector<std::string> fields; // Struct
  std::vector<Tree> elements;
};
constexpr int64_t MostElements = 1 << 16;

bool readTree(const json::Value *value, Tree &tree);

bool readElements(const json::Array *elements, Tree &tree) {
  if (!elements)
    return false;
  for (const json::Value &element : *elements)
    if (!readTree(&element, tree.elements.emplace_back()))
      return false;
  return true;
}

bool readFields(const json::Array *fields, Tree &tree) {
  if (!fields)
    return false;
  for (const json::Value &entry : *fields) {
    const json::Object *field = entry.getAsObject();
    auto name = field ? field->getString("name") : std::nullopt;
    if (!name || !readTree(field->get("value"), tree.elements.emplace_back()))
      return false;
    tree.fields.push_back(name->str());
  }
  return true;
}

bool readTensor(const json::Object &object, Tree &tree) {
  tree.type = object.getString("dtype").value_or("").str();
  const json::Array *shape = object.getArray("shape");
  if (!shape || shape->empty())
    return !tree.type.empty();
  for (size_t i = 0; i < shape->size(); ++i)
    tree.type +=
        (i ? ", " : "[") + (*shape)[i].getAsString().value_or("?").str();
  tree.type += "]";
  return true;
}

bool readTree(const json::Value *value, Tree &tree) {
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object)
    return false;
  StringRef kind = object->getString("kind").value_or("");
  if (kind == "tensor")
    return readTensor(*object, tree);
  if (kind == "struct") {
    tree.kind = Tree::Struct;
    tree.type = object->getString("name").value_or("").str();
    StringRef cName = object->getString("c_name").value_or("");
    tree.cName = makeCName(cName);
    return !cName.empty() && readFields(object->getArray("fields"), tree);
  }
  if (kind == "tuple") {
    tree.kind = Tree::Tuple;
    return readElements(object->getArray("elements"), tree);
  }
  if (kind != "array")
    return false;
  tree.kind = Tree::Array;
  int64_t count = object->getInteger("count").value_or(-1);
  Tree element;
  if (count < 0 || count > MostElements ||
      !readTree(object->get("element"), element))
    return false;
  tree.elements.assign(size_t(count), element);
  return true;
}

bool parseTree(StringRef text, Tree &tree) {
  auto parsed = json::parse(text);
  if (parsed)
    return readTree(&*parsed, tree);
  llvm::consumeError(parsed.takeError());
  return false;
}

unsigned countLeaves(const Tree &tree) {
  unsigned count = tree.kind == Tree::Tensor;
  for (const Tree &element : tree.elements)
    count += countLeaves(element);
  return count;
}

/// The paths of a tree's leaves as the program writes them: "blocks[0].w".
void collectPaths(const Tree &tree, const std::string &path,
                  std::vector<std::string> &paths) {
  if (tree.kind == Tree::Tensor) {
    paths.push_back(StringRef(path).ltrim('.').str());
    return;
  }
  for (const auto &[place, element] : llvm::enumerate(tree.elements)) {
    std::string number = std::to_string(place);
    std::string step = tree.kind == Tree::Struct  ? "." + tree.fields[place]
                       : tree.kind == Tree::Tuple ? "." + number
                                                  : "[" + number + "]";
    collectPaths(element, path + step, paths);
  }
}

class HeaderWriter {
public:
  HeaderWriter(StringRef module, ArrayRef<ExportInfo> exports,
               ArrayRef<StructInfo> structs)
      : module(makeCPrefix(module)), symbol(getDescriptorSymbol(module)),
        exports(exports), structs(structs), os(text) {}
  std::string write(StringRef source, StringRef compiler);

private:
  struct Value {
    std::string name;
    Tree tree;
    unsigned firstLeaf;
    const LeafInfo *scalar = nullptr; // given by value
  };

  void writeComment(StringRef words);
  std::string getFunctionName(const ExportInfo &info) const {
    return module + "_" + makeCExportName(info.name);
  }
  bool isFunction(const std::string &name) const;
  std::string writeType(const Tree &tree, const std::string &fallback);
  void writeStruct(const Tree &tree, const std::string &name);
  void writeStructHelpers(const Tree &tree, const std::string &name);
  void writeStructs();
  void writeModule();
  void writeFunction(const ExportInfo &info);
  std::vector<Value> getInputs(const ExportInfo &info);
  std::vector<Value> getOutputs(const ExportInfo &info);
  /// One statement per leaf: `statement(access, index)`.
  void forLeaves(const Tree &tree, const std::string &access, unsigned &index,
                 llvm::function_ref<void(const std::string &, unsigned)>);

  std::string module, symbol;
  ArrayRef<ExportInfo> exports;
  ArrayRef<StructInfo> structs;
  std::string text;
  llvm::raw_string_ostream os;
  llvm::StringSet<> written;
};

void HeaderWriter::writeComment(StringRef words) {
  if (words.empty())
    return;
  // Neither the end nor the beginning of a comment, a line that a backslash
  // joins to the next, or a trigraph.
  std::string safe;
  for (char c : words.trim()) {
    char last = safe.empty() ? ' ' : safe.back();
    if ((c == '/' && last == '*') || (c == '*' && last == '/') ||
        (c == '\n' && last == '\\') || (c == '?' && last == '?'))
      safe += ' ';
    safe += c;
  }
  SmallVector<StringRef> lines;
  StringRef(safe).split(lines, '\n');
  os << "/* ";
  llvm::interleave(
      lines, os, [&](StringRef line) { os << line.trim(); }, "\n * ");
  os << " */\n";
}

void HeaderWriter::forLeaves(
    const Tree &tree, const std::string &access, unsigned &index,
    llvm::function_ref<void(const std::string &, unsigned)> statement) {
  if (tree.kind == Tree::Tensor)
    return statement(access, index++);
  for (const auto &[place, element] : llvm::enumerate(tree.elements)) {
    std::string member =
        tree.kind == Tree::Struct  ? "." + makeCName(tree.fields[place])
        : tree.kind == Tree::Tuple ? "._" + std::to_string(place)
                                   : ".at[" + std::to_string(place) + "]";
    forLeaves(element, access + member, index, statement);
  }
}

/// A function of the header has this name, or one that a struct of the name
/// would bring.
bool HeaderWriter::isFunction(const std::string &name) const {
  for (const ExportInfo &info : exports) {
    std::string whole = getFunctionName(info);
    StringRef function = whole;
    if (function.consume_front(name) &&
        (function.empty() || function == "_count" || function == "_name" ||
         function == "_pack" || function == "_unpack" ||
         function == "_release"))
      return true;
  }
  return false;
}

/// The C type of a tree; structs that it needs are written first. Tuples and
/// arrays are named after where they stand.
std::string HeaderWriter::writeType(const Tree &tree,
                                    const std::string &fallback) {
  if (tree.kind == Tree::Tensor)
    return "astra_tensor_t";
  std::string name = tree.kind == Tree::Struct ? tree.cName : fallback;
  while (tree.kind != Tree::Struct && isFunction(name))
    name += "_";
  if (written.insert(name).second)
    writeStruct(tree, name);
  return name;
}

void HeaderWriter::writeStruct(const Tree &tree, const std::string &name) {
  std::vector<std::string> types;
  for (const auto &[index, element] : llvm::enumerate(tree.elements))
    types.push_back(writeType(element, name + "_" + std::to_string(index)));
  const StructInfo *info = nullptr;
  for (const StructInfo &candidate : structs)
    if (makeCName(candidate.cName) == name)
      info = &candidate;
  if (tree.kind == Tree::Struct)
    writeComment(info && !info->doc.empty() ? tree.type + "\n" + info->doc
                                            : tree.type);
  os << "typedef struct " << name << " {\n";
  if (tree.kind == Tree::Array && !types.empty()) {
    os << "  " << types[0] << " at[" << types.size() << "];\n";
  } else {
    for (const auto &[index, type] : llvm::enumerate(types)) {
      os << "  " << type << " "
         << (tree.kind == Tree::Struct ? makeCName(tree.fields[index])
                                       : "_" + std::to_string(index))
         << ";";
      std::string note = tree.elements[index].kind == Tree::Tensor
                             ? tree.elements[index].type
                             : "";
      if (info && index < info->fields.size() &&
          !info->fields[index].doc.empty())
        note += (note.empty() ? "" : ": ") + info->fields[index].doc;
      os << (note.empty() ? "" : " ");
      writeComment(note);
      os << (note.empty() ? "\n" : "");
    }
  }
  if (types.empty())
    os << "  char unused;\n";
  os << "} " << name << ";\n\n";
  writeStructHelpers(tree, name);
}

void HeaderWriter::writeStructHelpers(const Tree &tree,
                                      const std::string &name) {
  unsigned count = countLeaves(tree), index = 0;
  if (count == 0)
    return;
  os << "enum { " << name << "_count = " << count << " };\n\n";
  os << "/* The path of tensor `index` of the struct, for files and messages. "
        "*/\n"
     << "static inline const char *" << name << "_name(size_t index) {\n"
     << "  static const char *const names[] = {\n";
  std::vector<std::string> paths;
  collectPaths(tree, "", paths);
  for (const std::string &path : paths)
    os << "      \"" << path << "\",\n";
  os << "  };\n  return index < " << name
     << "_count ? names[index] : \"\";\n}\n\n"
     << "/* The struct's tensors in order, and back. No references change. */\n"
     << "static inline void " << name << "_pack(const " << name
     << " *tree, astra_tensor_t *tensors) {\n";
  forLeaves(tree, "(*tree)", index, [&](const std::string &access, unsigned i) {
    os << "  tensors[" << i << "] = " << access << ";\n";
  });
  os << "}\n\nstatic inline void " << name << "_unpack(" << name
     << " *tree, const astra_tensor_t *tensors) {\n";
  index = 0;
  forLeaves(tree, "(*tree)", index, [&](const std::string &access, unsigned i) {
    os << "  " << access << " = tensors[" << i << "];\n";
  });
  os << "}\n\n/* Gives back one reference to each tensor of the struct. */\n"
     << "static inline void " << name << "_release(astra_runtime_t *runtime, "
     << name << " *tree) {\n"
     << "  astra_tensor_t tensors[" << name << "_count];\n  size_t i;\n  "
     << name << "_pack(tree, tensors);\n"
     << "  for (i = 0; i < " << name << "_count; ++i)\n"
     << "    astra_tensor_release(runtime, tensors[i], NULL);\n}\n\n";
}

/// Those that the module lists; functions may need more.
void HeaderWriter::writeStructs() {
  for (const StructInfo &info : structs) {
    Tree tree;
    tree.kind = Tree::Struct;
    tree.type = info.name;
    tree.cName = makeCName(info.cName);
    bool good = true;
    for (const FieldInfo &field : info.fields) {
      tree.fields.push_back(field.name);
      good = good && parseTree(field.tree, tree.elements.emplace_back());
    }
    if (good)
      writeType(tree, tree.cName);
  }
}

void HeaderWriter::writeModule() {
  os << "/* The descriptor in the object file, for " << module << "_link. */\n"
     << "extern const struct astra_module_desc " << symbol << ";\n\n"
     << "/* The module in a runtime, with its functions. */\n"
     << "typedef struct " << module << "_module {\n"
     << "  astra_runtime_t *runtime;\n  astra_module_t handle;\n";
  for (const ExportInfo &info : exports)
    os << "  astra_function_t fn_" << info.name << ";\n";
  os << "} " << module << "_module_t;\n\n"
     << "/* Gives back all references of `module`. */\n"
     << "static inline void " << module << "_release(" << module
     << "_module_t *module) {\n";
  for (const ExportInfo &info : exports)
    os << "  if (module->fn_" << info.name << ".bits)\n"
       << "    astra_function_release(module->runtime, module->fn_" << info.name
       << ", NULL);\n";
  os << "  if (module->handle.bits)\n"
     << "    astra_module_release(module->runtime, module->handle, NULL);\n"
     << "  memset(module, 0, sizeof *module);\n}\n\n"
     << "static inline astra_status_t " << module << "_find(" << module
     << "_module_t *module,\n    astra_error_t **error) {\n"
     << "  astra_status_t status = ASTRA_OK;\n";
  for (const ExportInfo &info : exports)
    os << "  if (status == ASTRA_OK)\n"
       << "    status = astra_module_function(module->runtime, module->handle, "
       << "\"" << info.name
       << "\",\n                                   &module->fn_" << info.name
       << ", error);\n";
  os << "  if (status != ASTRA_OK)\n    " << module << "_release(module);\n"
     << "  return status;\n}\n\n";
  auto writeOpening = [&](StringRef how, StringRef parameter, StringRef call) {
    os << "static inline astra_status_t " << module << "_" << how
       << "(astra_runtime_t *runtime,\n    " << parameter << module
       << "_module_t *module, astra_error_t **error) {\n"
       << "  astra_status_t status;\n"
       << "  memset(module, 0, sizeof *module);\n"
       << "  module->runtime = runtime;\n"
       << "  status = " << call << ", &module->handle, error);\n"
       << "  return status == ASTRA_OK ? " << module
       << "_find(module, error) : status;\n}\n\n";
  };
  os << "/* For a program that the object file is linked into. */\n";
  writeOpening("link", "", "astra_module_link(runtime, &" + symbol);
  os << "/* For a module that `astrac -shared` made. */\n";
  writeOpening("load", "const char *path, ", "astra_module_load(runtime, path");
}

Tree getLeafTree(const LeafInfo &leaf) {
  Tree tree;
  std::string type;
  llvm::raw_string_ostream stream(type);
  stream << getElementName(leaf.element);
  if (!leaf.shape.empty()) {
    stream << "[";
    llvm::interleaveComma(leaf.shape, stream,
                          [&](const Dim &dim) { stream << dim.str(); });
    stream << "]";
  }
  tree.type = type;
  return tree;
}

Tree getTree(const ValueInfo &value, ArrayRef<LeafInfo> leaves) {
  Tree tree;
  if (parseTree(value.tree, tree) && countLeaves(tree) == value.leafCount)
    return tree;
  // No tree is stated: the leaves, as one tensor or a tuple of them.
  tree = Tree();
  if (value.leafCount == 1)
    return getLeafTree(leaves[value.firstLeaf]);
  tree.kind = Tree::Tuple;
  for (unsigned i = 0; i < value.leafCount; ++i)
    tree.elements.push_back(getLeafTree(leaves[value.firstLeaf + i]));
  return tree;
}

std::vector<HeaderWriter::Value>
HeaderWriter::getInputs(const ExportInfo &info) {
  std::vector<Value> values;
  for (const ValueInfo &value : info.inValues) {
    Value input{makeCParameterName(value.name), getTree(value, info.inLeaves),
                value.firstLeaf};
    const LeafInfo *leaf =
        value.leafCount ? &info.inLeaves[value.firstLeaf] : nullptr;
    if (input.tree.kind == Tree::Tensor && leaf && leaf->shape.empty())
      input.scalar = leaf;
    values.push_back(std::move(input));
  }
  return values;
}

/// A tuple as the result is one output for each element.
std::vector<HeaderWriter::Value>
HeaderWriter::getOutputs(const ExportInfo &info) {
  std::vector<Value> values;
  for (const ValueInfo &value : info.outValues) {
    Tree tree = getTree(value, info.outLeaves);
    if (tree.kind != Tree::Tuple) {
      values.push_back({"", std::move(tree), value.firstLeaf});
      continue;
    }
    unsigned leaf = value.firstLeaf;
    for (Tree &element : tree.elements) {
      unsigned count = countLeaves(element);
      values.push_back({"", std::move(element), leaf});
      leaf += count;
    }
  }
  for (const auto &[index, value] : llvm::enumerate(values))
    value.name =
        values.size() == 1 ? "result" : "result" + std::to_string(index);
  return values;
}

StringRef getScalarCType(Type element) {
  if (element.isF32())
    return "float";
  if (element.isF64())
    return "double";
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = !isa<IntegerType>(element) || element.isInteger(1) ||
                    element.isUnsignedInteger();
  switch (width) {
  case 1:
  case 8:
    return isUnsigned ? "uint8_t" : "int8_t";
  case 16:
    return isUnsigned ? "uint16_t" : "int16_t";
  case 32:
    return isUnsigned ? "uint32_t" : "int32_t";
  default:
    return isUnsigned ? "uint64_t" : "int64_t";
  }
}

void HeaderWriter::writeFunction(const ExportInfo &info) {
  std::vector<Value> inputs = getInputs(info), outputs = getOutputs(info);
  std::string name = getFunctionName(info);
  std::string parameters;
  llvm::raw_string_ostream list(parameters);
  for (const Value &input : inputs) {
    std::string type = input.scalar
                           ? getScalarCType(input.scalar->element).str()
                           : writeType(input.tree, name + "_" + input.name);
    list << ", " << type << " " << input.name;
  }
  for (const Value &output : outputs)
    list << ", " << writeType(output.tree, name + "_" + output.name) << " *"
         << output.name;

  std::string signature;
  llvm::raw_string_ostream words(signature);
  words << info.name << "(";
  llvm::interleaveComma(info.inValues, words, [&](const ValueInfo &value) {
    words << value.name << ": " << value.type;
  });
  // Several results were a tuple in the program.
  words << ") -> " << (info.outValues.size() == 1 ? "" : "(");
  llvm::interleaveComma(info.outValues, words,
                        [&](const ValueInfo &value) { words << value.type; });
  words << (info.outValues.size() == 1 ? "" : ")");
  writeComment(info.doc.empty() ? signature : info.doc + "\n" + signature);

  size_t in = info.inLeaves.size(), out = info.outLeaves.size();
  os << "static inline astra_status_t " << name << "(const " << module
     << "_module_t *module,\n    astra_stream_t stream" << parameters
     << ",\n    astra_error_t **error) {\n"
     << "  astra_value_t astra_in[" << std::max<size_t>(in, 1) << "];\n"
     << "  astra_tensor_t astra_out[" << std::max<size_t>(out, 1) << "];\n"
     << "  astra_status_t status;\n"
     << "  memset(astra_out, 0, sizeof astra_out);\n";
  for (const Value &input : inputs) {
    unsigned index = input.firstLeaf;
    if (input.scalar) {
      os << "  astra_in[" << index << "] = astra_value_of_"
         << getElementName(input.scalar->element) << "(" << input.name
         << ");\n";
      continue;
    }
    forLeaves(input.tree, input.name, index,
              [&](const std::string &access, unsigned i) {
                os << "  astra_in[" << i << "] = astra_value_of_tensor("
                   << access << ");\n";
              });
  }
  os << "  status = astra_function_call(module->runtime, module->fn_"
     << info.name << ", stream,\n      NULL, " << (in ? "astra_in" : "NULL")
     << ", " << in << ", " << (out ? "astra_out" : "NULL") << ", " << out
     << ", error);\n";
  if (in == 0)
    os << "  (void)astra_in;\n";
  // Nulls where the call failed, also where it did not come to the outputs.
  for (const Value &output : outputs) {
    unsigned index = output.firstLeaf;
    forLeaves(output.tree, "(*" + output.name + ")", index,
              [&](const std::string &access, unsigned i) {
                os << "  " << access << " = astra_out[" << i << "];\n";
              });
  }
  os << "  return status;\n}\n\n";
}

std::string HeaderWriter::write(StringRef source, StringRef compiler) {
  std::string guard = "ASTRA_MODULE_" + StringRef(module).upper() + "_H";
  os << "/* Made by " << compiler << " from " << source
     << ". Not to be edited.\n"
     << " *\n"
     << " * Open the module with " << module << "_link or " << module
     << "_load, call its functions, close it with\n * " << module
     << "_release. A call gives tensors that may be pending; each is released "
        "by\n * astra_tensor_release. Results of a call that fails are null.\n"
     << " *\n * The functions here take scalars by value, donate no input and "
        "write into no tensor\n * of the caller's. To donate "
        "(ASTRA_VALUE_DONATE), to name targets\n * (astra_call_options_t) or "
        "to give a scalar as a tensor, which may be pending,\n * pass "
     << (exports.empty() ? "a function of the module"
                         : "`module.fn_" + exports[0].name + "`")
     << " to astra_function_call. See astra/astra.h. */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include \"astra/astra.h\"\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  writeStructs();
  writeModule();
  for (const ExportInfo &info : exports)
    writeFunction(info);
  os << "#ifdef __cplusplus\n}\n#endif\n#endif /* " << guard << " */\n";
  return std::move(text);
}
} // namespace

std::string astra::makeCHeader(StringRef module, StringRef source,
                               StringRef compiler, ArrayRef<ExportInfo> exports,
                               ArrayRef<StructInfo> structs) {
  return HeaderWriter(module, exports, structs).write(source, compiler);
}

std::vector<ExportInfo> astra::readExports(ModuleOp module) {
  std::vector<ExportInfo> exports;
  for (auto function : module.getOps<func::FuncOp>()) {
    ExportInfo info = readExport(function);
    if (!info.isTest)
      exports.push_back(std::move(info));
  }
  return exports;
}
