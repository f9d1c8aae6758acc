// The `calls` dialect's types, verifiers and helpers. Knows layouts, nothing of
// what the kernels compute.
#include "dialect/CallsOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace astra;
using namespace astra::calls;

#include "dialect/CallsDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/CallsTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialect/CallsOps.cpp.inc"

void CallsDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/CallsTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/CallsOps.cpp.inc"
      >();
}

//===-- Helpers -----------------------------------------------------------===//

SmallVector<Dim> calls::getDenseStrides(ArrayRef<Dim> shape) {
  SmallVector<Dim> strides(shape.size(), Dim::constant(1));
  for (size_t i = shape.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

Dim calls::getElementCount(ArrayRef<Dim> shape) {
  Dim count = Dim::constant(1);
  for (const Dim &extent : shape)
    count = count * extent;
  return count;
}

unsigned calls::getByteWidth(Type element) {
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

ArrayAttr calls::getDimsAttr(MLIRContext *context, ArrayRef<Dim> dims) {
  SmallVector<Attribute> texts;
  for (const Dim &dim : dims)
    texts.push_back(StringAttr::get(context, dim.str()));
  return ArrayAttr::get(context, texts);
}

SmallVector<Dim> calls::getDims(ArrayAttr attr) {
  SmallVector<Dim> dims;
  for (auto text : attr.getAsRange<StringAttr>())
    dims.push_back(Dim::parse(text.getValue()).value_or(Dim()));
  return dims;
}

Dim calls::getInputStride(unsigned input, unsigned axis) {
  return Dim::name(("stride" + Twine(axis) + "@" + Twine(input)).str());
}

//===-- ViewType ----------------------------------------------------------===//

ViewType ViewType::get(MLIRContext *context, Type element, ArrayRef<Dim> shape,
                       ArrayRef<Dim> strides) {
  return get(context, element, getDimsAttr(context, shape),
             getDimsAttr(context, strides));
}

ViewType ViewType::getDense(MLIRContext *context, Type element,
                            ArrayRef<Dim> shape) {
  return get(context, element, shape, getDenseStrides(shape));
}

SmallVector<Dim> ViewType::getShapeDims() const { return getDims(getShape()); }
SmallVector<Dim> ViewType::getStrideDims() const {
  return getDims(getStrides());
}

bool ViewType::isDense() const {
  SmallVector<Dim> shape = getShapeDims(), strides = getStrideDims();
  Dim expected = Dim::constant(1);
  for (size_t i = shape.size(); i-- > 0;) {
    if (!shape[i].isConstant(1) && strides[i] != expected)
      return false;
    expected = expected * shape[i];
  }
  return true;
}

static bool isPlain(StringRef text) {
  if (text.empty())
    return false;
  if (text.find_first_not_of("0123456789") == StringRef::npos)
    return true;
  if (!isalpha(text.front()) && text.front() != '_')
    return false;
  return llvm::all_of(text, [](char c) { return isalnum(c) || c == '_'; });
}

static void printDims(AsmPrinter &printer, ArrayAttr dims) {
  printer << '[';
  llvm::interleaveComma(dims.getAsRange<StringAttr>(), printer.getStream(),
                        [&](StringAttr text) {
                          if (isPlain(text.getValue()))
                            printer << text.getValue();
                          else
                            printer << text;
                        });
  printer << ']';
}

static ParseResult parseDim(AsmParser &parser, SmallVectorImpl<Attribute> &to) {
  std::string text;
  int64_t number;
  StringRef word;
  SMLoc place = parser.getCurrentLocation();
  OptionalParseResult digits = parser.parseOptionalInteger(number);
  if (digits.has_value()) {
    if (*digits)
      return failure();
    text = std::to_string(number);
  } else if (succeeded(parser.parseOptionalKeyword(&word))) {
    text = word.str();
  } else if (parser.parseString(&text)) {
    return failure();
  }
  std::optional<Dim> dim = Dim::parse(text);
  if (!dim)
    return parser.emitError(place) << "\"" << text << "\" is no dimension";
  to.push_back(StringAttr::get(parser.getContext(), dim->str()));
  return success();
}

static ParseResult parseDims(AsmParser &parser, ArrayAttr &dims) {
  SmallVector<Attribute> texts;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parseDim(parser, texts); }))
    return failure();
  dims = ArrayAttr::get(parser.getContext(), texts);
  return success();
}

void ViewType::print(AsmPrinter &printer) const {
  printer << '<' << getElementType() << ", ";
  printDims(printer, getShape());
  printer << ", ";
  printDims(printer, getStrides());
  printer << '>';
}

Type ViewType::parse(AsmParser &parser) {
  Type element;
  ArrayAttr shape, strides;
  if (parser.parseLess() || parser.parseType(element) || parser.parseComma() ||
      parseDims(parser, shape) || parser.parseComma() ||
      parseDims(parser, strides) || parser.parseGreater())
    return {};
  if (shape.size() != strides.size()) {
    parser.emitError(parser.getNameLoc(), "a view has one stride per axis");
    return {};
  }
  return get(parser.getContext(), element, shape, strides);
}

//===-- Verifiers ---------------------------------------------------------===//

LogicalResult calls::ViewOp::verify() {
  if (getIndices().size() != getSteps().size())
    return emitOpError("needs one step for each index");
  unsigned from = getByteWidth(getBase().getType().getElementType());
  unsigned to = getByteWidth(getView().getType().getElementType());
  if (from != to)
    return emitOpError("cannot change the width of elements");
  return success();
}

LogicalResult calls::KernelOp::verify() {
  for (Attribute param : getParams())
    if (!isa<IntegerAttr, StringAttr, FloatAttr, FlatSymbolRefAttr>(param))
      return emitOpError("has a parameter that is no number and no text");
  return success();
}
