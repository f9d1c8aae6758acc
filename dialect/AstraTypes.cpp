// Parsing, printing and checking of the dialect's types, and dimension
// expressions as attributes. Knows no operation.
#include "dialect/AstraTypes.h"
#include "astra/module.h"
#include "dialect/AstraDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#define GET_TYPEDEF_CLASSES
#include "dialect/AstraTypes.cpp.inc"

namespace astra {

//===-- Dimensions as attributes ------------------------------------------===//

StringAttr toAttr(MLIRContext *context, const Dim &dim) {
  return StringAttr::get(context, dim.str());
}

ArrayAttr toAttr(MLIRContext *context, ArrayRef<Dim> dims) {
  SmallVector<Attribute> attrs;
  for (const Dim &dim : dims)
    attrs.push_back(toAttr(context, dim));
  return ArrayAttr::get(context, attrs);
}

static bool isIdentifier(StringRef text) {
  return !text.empty() &&
         (llvm::isAlpha(text.front()) || text.front() == '_') &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// Numbers and names are by far the most frequent, so they skip the parser.
static std::optional<Dim> parseDim(StringRef text) {
  int64_t value;
  if (!text.getAsInteger(10, value))
    return Dim::constant(value);
  if (isIdentifier(text))
    return Dim::name(text);
  return Dim::parse(text);
}

Dim toDim(StringAttr attr) { return parseDim(attr.getValue()).value_or(Dim()); }

SmallVector<Dim> toDims(ArrayAttr attr) {
  SmallVector<Dim> dims;
  for (Attribute element : attr)
    dims.push_back(toDim(cast<StringAttr>(element)));
  return dims;
}

bool isDimAttr(Attribute attr) {
  auto text = dyn_cast_or_null<StringAttr>(attr);
  if (!text)
    return false;
  std::optional<Dim> dim = parseDim(text.getValue());
  return dim && dim->str() == text.getValue();
}

bool isDimArrayAttr(Attribute attr) {
  auto array = dyn_cast_or_null<ArrayAttr>(attr);
  return array && llvm::all_of(array, isDimAttr);
}

ParseResult parseTensorType(AsmParser &parser, Type &type) {
  return parser.parseType(type);
}
void printTensorType(AsmPrinter &printer, Operation *, Type type) {
  printer << type;
}

//===-- The tensor type ---------------------------------------------------===//

bool isElementType(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return false;
  if (integer.getWidth() == 1)
    return integer.isSignless();
  return llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth());
}

bool isFloatTensor(Type type) {
  if (auto tape = dyn_cast_or_null<TapeType>(type))
    return isFloatTensor(tape.getLeaf());
  auto tensor = dyn_cast_or_null<TensorType>(type);
  return tensor && tensor.isFloat();
}

TensorType TensorType::get(MLIRContext *context, Type element,
                           ArrayRef<Dim> shape) {
  SmallVector<StringAttr> dims;
  for (const Dim &dim : shape)
    dims.push_back(toAttr(context, dim));
  return Base::get(context, element, dims);
}

TensorType TensorType::getWithDims(Type element, ArrayRef<StringAttr> dims) {
  return Base::get(element.getContext(), element, dims);
}

LogicalResult
TensorType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   Type element, ArrayRef<StringAttr> dims) {
  if (!isElementType(element))
    return emitError() << "invalid element type " << element;
  if (dims.size() > ASTRA_MAX_RANK)
    return emitError() << "rank " << dims.size() << " is above "
                       << ASTRA_MAX_RANK;
  for (StringAttr dim : dims) {
    if (!isDimAttr(dim))
      return emitError() << "extent " << dim
                         << " is not a dimension expression in canonical form";
    if (std::optional<int64_t> value = toDim(dim).asConstant())
      if (*value < 0)
        return emitError() << "negative extent " << *value;
  }
  return success();
}

SmallVector<Dim> TensorType::getShape() const {
  SmallVector<Dim> shape;
  for (StringAttr dim : getDims())
    shape.push_back(toDim(dim));
  return shape;
}

Dim TensorType::getDim(int64_t axis) const { return toDim(getDims()[axis]); }

Dim TensorType::getNumElements() const {
  Dim count = Dim::constant(1);
  for (const Dim &dim : getShape())
    count = count * dim;
  return count;
}

bool TensorType::isFloat() const { return isa<FloatType>(getElementType()); }
bool TensorType::isBool() const { return getElementType().isInteger(1); }
bool TensorType::isInteger() const {
  return isa<IntegerType>(getElementType()) && !isBool();
}
bool TensorType::isUnsigned() const {
  return getElementType().isUnsignedInteger();
}

/// A name, a number, or a quoted expression, in any form; made canonical.
static FailureOr<StringAttr> parseExtent(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  SMLoc loc = parser.getCurrentLocation();
  int64_t value;
  OptionalParseResult number = parser.parseOptionalInteger(value);
  if (number.has_value()) {
    if (failed(*number))
      return failure();
    return toAttr(context, Dim::constant(value));
  }
  StringRef name;
  if (succeeded(parser.parseOptionalKeyword(&name)))
    return StringAttr::get(context, name);
  std::string text;
  if (parser.parseString(&text))
    return failure();
  std::optional<Dim> dim = Dim::parse(text);
  if (!dim) {
    parser.emitError(loc) << "'" << text << "' is not a dimension expression";
    return failure();
  }
  return toAttr(context, *dim);
}

Type TensorType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  Type element;
  SmallVector<StringAttr> dims;
  auto parseOne = [&]() -> ParseResult {
    FailureOr<StringAttr> dim = parseExtent(parser);
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
    return success();
  };
  if (parser.parseLess() || parser.parseType(element) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne) ||
      parser.parseGreater())
    return {};
  return Base::getChecked([&] { return parser.emitError(loc); },
                          parser.getContext(), element, dims);
}

void TensorType::print(AsmPrinter &printer) const {
  printer << "<" << getElementType() << ", [";
  llvm::interleaveComma(getDims(), printer, [&](StringAttr dim) {
    StringRef text = dim.getValue();
    if (isIdentifier(text) || llvm::all_of(text, llvm::isDigit))
      printer << text;
    else
      printer << '"' << text << '"';
  });
  printer << "]>";
}

//===-- The tape type -----------------------------------------------------===//

LogicalResult
TapeType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 Type entry) {
  if (isa<TensorType, TapeType>(entry))
    return success();
  return emitError() << "a tape of " << entry;
}

TensorType TapeType::getLeaf() const {
  Type entry = getEntry();
  while (auto inner = dyn_cast<TapeType>(entry))
    entry = inner.getEntry();
  return cast<TensorType>(entry);
}

TapeType TapeType::withLeaf(TensorType leaf) const {
  auto inner = dyn_cast<TapeType>(getEntry());
  return get(getContext(), inner ? Type(inner.withLeaf(leaf)) : leaf);
}

unsigned TapeType::getDepth() const {
  auto inner = dyn_cast<TapeType>(getEntry());
  return inner ? inner.getDepth() + 1 : 1;
}

void AstraDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/AstraTypes.cpp.inc"
      >();
}

} // namespace astra
