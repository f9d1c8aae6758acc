// See ModuleInfo.h. Attributes that are absent read as empty: a function
// written by hand in a test need not state everything.
#include "passes/ModuleInfo.h"
#include "astra/module.h"
#include "dialect/AstraDialect.h"

using namespace mlir;
using namespace astra;

static std::string getText(DictionaryAttr dictionary, StringRef key) {
  if (auto text = dictionary ? dictionary.getAs<StringAttr>(key) : StringAttr())
    return text.getValue().str();
  return "";
}

static std::vector<std::string> getTexts(DictionaryAttr dictionary,
                                         StringRef key) {
  std::vector<std::string> texts;
  if (auto array = dictionary ? dictionary.getAs<ArrayAttr>(key) : ArrayAttr())
    for (auto text : array.getAsRange<StringAttr>())
      texts.push_back(text.getValue().str());
  return texts;
}

static void readLeafType(Type type, LeafInfo &leaf) {
  if (auto view = dyn_cast<calls::ViewType>(type)) {
    leaf.element = view.getElementType();
    auto shape = view.getShapeDims();
    leaf.shape.assign(shape.begin(), shape.end());
  } else if (auto tensor = dyn_cast<astra::TensorType>(type)) {
    leaf.element = tensor.getElementType();
    auto shape = tensor.getShape();
    leaf.shape.assign(shape.begin(), shape.end());
  }
}

/// Values as written; leaves that no value covers get one value each.
static void readValues(DictionaryAttr info, StringRef key, StringRef fallback,
                       ArrayRef<Type> types, std::vector<ValueInfo> &values,
                       std::vector<LeafInfo> &leaves) {
  for (Type type : types)
    readLeafType(type, leaves.emplace_back());
  unsigned next = 0;
  auto array = info ? info.getAs<ArrayAttr>(key) : ArrayAttr();
  for (Attribute entry : array ? array.getValue() : ArrayRef<Attribute>()) {
    auto dictionary = cast<DictionaryAttr>(entry);
    ValueInfo &value = values.emplace_back();
    value.name = getText(dictionary, "name");
    value.type = getText(dictionary, "type");
    value.tree = getText(dictionary, "tree");
    value.firstLeaf = next;
    for (std::string &path : getTexts(dictionary, "leaves"))
      if (next < leaves.size())
        leaves[next++].path = std::move(path);
    value.leafCount = next - value.firstLeaf;
  }
  for (; next < leaves.size(); ++next) {
    std::string name = (fallback + Twine(next)).str();
    values.push_back({name, "", "", next, 1});
    leaves[next].path = name;
  }
}

ExportInfo astra::readExport(func::FuncOp function) {
  ExportInfo info;
  info.symbol = info.name = function.getName().str();
  auto dictionary =
      function->getAttrOfType<DictionaryAttr>(AstraDialect::kExportAttr);
  if (auto test =
          function->getAttrOfType<StringAttr>(AstraDialect::kTestAttr)) {
    info.isTest = true;
    info.name = test.getValue().str();
  }
  info.doc = getText(dictionary, "doc");
  info.dims = getTexts(dictionary, "dims");

  SmallVector<Type> inputs(function.getArgumentTypes());
  SmallVector<Type> outputs(function.getResultTypes());
  if (auto count = function->getAttrOfType<IntegerAttr>("calls.outputs")) {
    size_t first = inputs.size() - count.getInt();
    outputs.assign(inputs.begin() + first, inputs.end());
    inputs.truncate(first);
  }
  readValues(dictionary, "in_values", "in", inputs, info.inValues,
             info.inLeaves);
  readValues(dictionary, "out_values", "out", outputs, info.outValues,
             info.outLeaves);
  return info;
}

std::vector<StructInfo> astra::readStructs(ModuleOp module) {
  std::vector<StructInfo> structs;
  auto array = module->getAttrOfType<ArrayAttr>(AstraDialect::kStructsAttr);
  if (!array)
    return structs;
  for (auto entry : array.getAsRange<DictionaryAttr>()) {
    StructInfo &info = structs.emplace_back();
    info.cName = getText(entry, "c_name");
    info.name = getText(entry, "name");
    info.doc = getText(entry, "doc");
    auto fields = entry.getAs<ArrayAttr>("fields");
    for (Attribute field : fields ? fields.getValue() : ArrayRef<Attribute>()) {
      auto dictionary = cast<DictionaryAttr>(field);
      info.fields.push_back(
          {getText(dictionary, "name"), getText(dictionary, "doc"),
           getText(dictionary, "type"), getText(dictionary, "tree")});
    }
  }
  return structs;
}

std::string astra::getModuleName(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(AstraDialect::kModuleAttr);
  return name ? name.getValue().str() : "module";
}

uint32_t astra::getDTypeWord(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (element.isInteger(1))
    return ASTRA_BOOL;
  if (element.isBF16())
    return ASTRA_BF16;
  if (isa<FloatType>(element))
    return ASTRA_DTYPE(ASTRA_CLASS_FLOAT, width);
  return element.isUnsignedInteger() ? ASTRA_DTYPE(ASTRA_CLASS_UINT, width)
                                     : ASTRA_DTYPE(ASTRA_CLASS_INT, width);
}
