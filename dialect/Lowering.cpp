// Names of kernels and layouts, shared by the lowering rules of all families.
#include "dialect/Lowering.h"
#include "dialect/AstraDialect.h"
#include "dialect/CallsOps.h"

using namespace mlir;
using namespace astra;

Layout Layout::dense(ArrayRef<Dim> shape) {
  Layout layout;
  layout.shape.assign(shape.begin(), shape.end());
  layout.strides = calls::getDenseStrides(shape);
  return layout;
}

bool Layout::isDense() const {
  Dim expected = Dim::constant(1);
  for (size_t i = shape.size(); i-- > 0;) {
    if (!shape[i].isConstant(1) && strides[i] != expected)
      return false;
    expected = expected * shape[i];
  }
  return true;
}

std::string astra::getElementName(Type element) {
  if (element.isInteger(1))
    return "bool";
  std::string width = std::to_string(element.getIntOrFloatBitWidth());
  if (element.isBF16())
    return "bf16";
  if (isa<FloatType>(element))
    return "f" + width;
  return (element.isUnsignedInteger() ? "u" : "i") + width;
}

std::string astra::getKernelName(StringRef op, Type element) {
  return (op + "_" + getElementName(element)).str();
}

std::string astra::getWidthKernelName(StringRef op, Type element) {
  return (op + "_b" + Twine(8 * calls::getByteWidth(element))).str();
}

Type astra::getScalarType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

TypedAttr astra::getScalarAttr(Attribute value, Type element) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return IntegerAttr::get(getScalarType(element), integer.getValue());
  return cast<TypedAttr>(value);
}

static bool isNeverNegative(const Dim::Atom &atom) {
  return atom.kind == Dim::Atom::Name ||
         (isNeverNegative(*atom.lhs) && isNeverNegative(*atom.rhs));
}

bool astra::isNeverNegative(const Dim &dim) {
  return llvm::all_of(dim.getTerms(), [](const auto &term) {
    return term.second >= 0 && llvm::all_of(term.first, [](const auto &factor) {
             return ::isNeverNegative(factor.first) || factor.second % 2 == 0;
           });
  });
}

void KernelBuilder::call(const Twine &kernel, ArrayRef<Value> inputs,
                         ArrayRef<Value> outputs, ArrayRef<int64_t> params) {
  SmallVector<Attribute> attributes;
  Type word = IntegerType::get(getContext(), 64);
  for (int64_t param : params)
    attributes.push_back(IntegerAttr::get(word, param));
  call(kernel, inputs, outputs, attributes);
}

void KernelBuilder::copy(Value from, Value to) {
  Type element = cast<calls::ViewType>(to.getType()).getElementType();
  call(getWidthKernelName("copy", element), {from}, {to},
       ArrayRef<Attribute>());
}

LogicalResult astra::buildPlainKernels(Operation *op, KernelBuilder &builder) {
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    inputs.push_back(builder.getInput(i));
  Type element =
      getTensorType(op->getNumOperands() ? op->getOperand(0) : op->getResult(0))
          .getElementType();
  builder.call(getKernelName(op->getName().stripDialect(), element), inputs,
               {builder.getOutput()}, ArrayRef<Attribute>());
  return success();
}
