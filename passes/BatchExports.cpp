// See Phases.h: every export over a batch, as if the program had mapped it.
#include "dialect/AstraOps.h"
#include "passes/Phases.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace astra;

static astra::TensorType addAxis(Type type, const Dim &batch) {
  auto row = cast<astra::TensorType>(type);
  SmallVector<Dim> shape = row.getShape();
  shape.insert(shape.begin(), batch);
  return astra::TensorType::get(type.getContext(), row.getElementType(), shape);
}

/// A name that the function has no other use for.
static std::string nameBatch(ArrayAttr dims) {
  std::string name = "batch";
  while (llvm::any_of(dims.getAsRange<StringAttr>(),
                      [&](StringAttr dim) { return dim.getValue() == name; }))
    name += "_";
  return name;
}

/// One value for each leaf, named by its path.
static ArrayAttr flattenValues(DictionaryAttr about, StringRef key) {
  Builder builder(about.getContext());
  SmallVector<Attribute> values;
  auto wholes = about.getAs<ArrayAttr>(key);
  for (Attribute whole : wholes ? wholes.getValue() : ArrayRef<Attribute>())
    for (Attribute path :
         cast<DictionaryAttr>(whole).getAs<ArrayAttr>("leaves"))
      values.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("leaves", builder.getArrayAttr(path)),
           builder.getNamedAttr("name", path)}));
  return builder.getArrayAttr(values);
}

/// The body becomes that of a map. The leaves keep their order and lose their
/// structs, which have no form with one more axis.
static void batchExport(func::FuncOp function, DictionaryAttr about) {
  OpBuilder builder(function.getContext());
  auto dims = about.getAs<ArrayAttr>("dims");
  dims = dims ? dims : builder.getArrayAttr({});
  std::string name = nameBatch(dims);
  Dim batch = Dim::name(name);
  Block *row = &function.getBody().front();
  auto *entry = new Block;
  function.getBody().push_front(entry);
  OperationState state(function.getLoc(), MapOp::getOperationName());
  for (BlockArgument argument : row->getArguments())
    state.addOperands(entry->addArgument(addAxis(argument.getType(), batch),
                                         argument.getLoc()));
  state.addAttribute("length", builder.getStringAttr(batch.str()));
  state.addAttribute("axes", builder.getDenseI64ArrayAttr(SmallVector<int64_t>(
                                 row->getNumArguments(), 0)));
  Operation *end = row->getTerminator();
  for (Type type : end->getOperandTypes())
    state.addTypes(addAxis(type, batch));
  Region *body = state.addRegion();
  body->getBlocks().splice(body->end(), function.getBody().getBlocks(), row);
  builder.setInsertionPoint(end);
  YieldOp::create(builder, end->getLoc(), end->getOperands());
  end->erase();
  builder.setInsertionPointToEnd(entry);
  Operation *map = builder.create(state);
  func::ReturnOp::create(builder, function.getLoc(), map->getResults());
  function.setFunctionType(builder.getFunctionType(entry->getArgumentTypes(),
                                                   map->getResultTypes()));
  SmallVector<Attribute> names(dims.getValue());
  names.push_back(builder.getStringAttr(name));
  function->setAttr(
      AstraDialect::kExportAttr,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("dims", builder.getArrayAttr(names)),
           builder.getNamedAttr("in_values", flattenValues(about, "in_values")),
           builder.getNamedAttr("out_values",
                                flattenValues(about, "out_values"))}));
}

void astra::batchExports(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (auto about =
            function->getAttrOfType<DictionaryAttr>(AstraDialect::kExportAttr);
        about && function.getNumArguments())
      batchExport(function, about);
}
