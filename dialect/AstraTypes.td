// The types of the dialect, and the constraints on them that operations use.
#ifndef ASTRA_TYPES_TD
#define ASTRA_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"
include "dialect/AstraDialect.td"

def Astra_Tensor : TypeDef<Astra_Dialect, "Tensor"> {
  let mnemonic = "tensor";
  let summary = "an immutable tensor whose extents are dimension expressions";
  let description = [{
    An element type and the extent of each axis. Element types are `i1` (bool),
    `i8`..`i64` (signed), `ui8`..`ui64`, `f16`, `bf16`, `f32`, `f64`. An extent is
    a dimension expression in canonical form: numbers and names stand bare,
    anything else is quoted. Two extents are provably equal exactly when their
    texts are, so equality of types is provable equality.

    Example:

    ```mlir
    !astra.tensor<f32, [n, 64, "2*d + 1"]>
    !astra.tensor<i1, []>
    ```
  }];
  let parameters = (ins "::mlir::Type":$elementType,
                        ArrayRefParameter<"::mlir::StringAttr">:$dims);
  let skipDefaultBuilders = 1;
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static TensorType get(::mlir::MLIRContext *context, ::mlir::Type element,
                          ::llvm::ArrayRef<Dim> shape);
    /// As get(), from canonical texts (those of another type, say).
    static TensorType getWithDims(::mlir::Type element,
                                  ::llvm::ArrayRef<::mlir::StringAttr> dims);
    static TensorType getScalar(::mlir::Type element) {
      return getWithDims(element, {});
    }

    int64_t getRank() const { return getDims().size(); }
    bool isScalar() const { return getDims().empty(); }
    ::llvm::SmallVector<Dim> getShape() const;
    Dim getDim(int64_t axis) const;
    /// The product of the extents.
    Dim getNumElements() const;

    bool isFloat() const;
    bool isBool() const;
    /// Signed or unsigned, not bool.
    bool isInteger() const;
    bool isUnsigned() const;

    TensorType withElement(::mlir::Type element) const {
      return getWithDims(element, getDims());
    }
    TensorType withDims(::llvm::ArrayRef<::mlir::StringAttr> dims) const {
      return getWithDims(getElementType(), dims);
    }
    TensorType withShape(::llvm::ArrayRef<Dim> shape) const {
      return get(getContext(), getElementType(), shape);
    }
  }];
}

def Astra_Tape : TypeDef<Astra_Dialect, "Tape"> {
  let mnemonic = "tape";
  let summary = "a sequence of values of one type without an end";
  let description = [{
    Entries are numbered from 0; each is all zeros (an empty tape, if entries are
    tapes) until it is written. The steps of a loop whose length only the run
    knows leave on tapes what its reverse pass needs. A tape has one owner: a
    value of this type that was written to is not used again, so a write may
    change the memory in place.

    Example:

    ```mlir
    !astra.tape<!astra.tensor<f32, [n]>>
    ```
  }];
  let parameters = (ins "::mlir::Type":$entry);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` $entry `>`";
  let extraClassDeclaration = [{
    /// The type of the tensors at its end: a tape's entries may be tapes.
    TensorType getLeaf() const;
    /// The same tape of tapes of other tensors.
    TapeType withLeaf(TensorType leaf) const;
    /// How often it is a tape.
    unsigned getDepth() const;
  }];
}

class Astra_TensorOf<string predicate, string what>
    : Type<And<[Astra_Tensor.predicate,
                CPred<"::llvm::cast<::astra::TensorType>($_self)." # predicate>]>,
           what, "::astra::TensorType">;

def Astra_AnyTensor : Type<Astra_Tensor.predicate, "tensor", "::astra::TensorType">;
/// What regions may take and give.
def Astra_AnyValue
    : Type<Or<[Astra_Tensor.predicate, Astra_Tape.predicate]>, "tensor or tape">;
def Astra_AnyTape : Type<Astra_Tape.predicate, "tape", "::astra::TapeType">;
def Astra_FloatTensor : Astra_TensorOf<"isFloat()", "tensor of floats">;
def Astra_IntTensor : Astra_TensorOf<"isInteger()", "tensor of integers">;
def Astra_BoolTensor : Astra_TensorOf<"isBool()", "tensor of bools">;
def Astra_NumberTensor
    : Type<Or<[Astra_FloatTensor.predicate, Astra_IntTensor.predicate]>,
           "tensor of numbers", "::astra::TensorType">;
def Astra_BitsTensor
    : Type<Or<[Astra_BoolTensor.predicate, Astra_IntTensor.predicate]>,
           "tensor of integers or bools", "::astra::TensorType">;

class Astra_ScalarOf<string predicate, string what>
    : Type<And<[Astra_Tensor.predicate,
                CPred<"::llvm::cast<::astra::TensorType>($_self).isScalar()">,
                CPred<"::llvm::cast<::astra::TensorType>($_self)." # predicate>]>,
           what, "::astra::TensorType">;

def Astra_BoolScalar : Astra_ScalarOf<"isBool()", "bool scalar">;
def Astra_I64Scalar
    : Astra_ScalarOf<"getElementType().isSignlessInteger(64)", "i64 scalar">;
def Astra_F64Scalar : Astra_ScalarOf<"getElementType().isF64()", "f64 scalar">;
def Astra_Key
    : Type<And<[Astra_Tensor.predicate,
                CPred<"::llvm::cast<::astra::TensorType>($_self).getElementType().isUnsignedInteger(32)">,
                CPred<"::llvm::cast<::astra::TensorType>($_self).getRank() == 1">,
                CPred<"::llvm::cast<::astra::TensorType>($_self).getDim(0).isConstant(2)">]>,
           "random key (ui32, [2])", "::astra::TensorType">;

/// A dimension expression in canonical form.
def Astra_DimAttr
    : Attr<CPred<"::astra::isDimAttr($_self)">, "dimension expression"> {
  let storageType = "::mlir::StringAttr";
  let returnType = "::astra::Dim";
  let convertFromStorage = "::astra::toDim($_self)";
  let valueType = NoneType; // in text the attribute stands without a type
  let constBuilderCall = "::astra::toAttr($_builder.getContext(), $0)";
}
def Astra_DimArrayAttr
    : Attr<CPred<"::astra::isDimArrayAttr($_self)">, "array of dimension expressions"> {
  let storageType = "::mlir::ArrayAttr";
  let returnType = "::llvm::SmallVector<::astra::Dim>";
  let convertFromStorage = "::astra::toDims($_self)";
  let constBuilderCall = "::astra::toAttr($_builder.getContext(), $0)";
}

#endif // ASTRA_TYPES_TD
