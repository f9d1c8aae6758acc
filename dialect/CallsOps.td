// The `calls` dialect: what a function has become once every value is a buffer
// and every operation a kernel call. A view is a pointer with a layout in its
// type; extents, strides and offsets are dimension expressions of the export,
// so nothing about sizes is computed here. Scalars are builtin values (arith),
// control flow is scf. A function's arguments are its inputs, then its outputs;
// `calls.outputs` says how many are outputs, `calls.workspace` how many bytes it
// needs, `calls.extents` which extents must not be negative. Knows nothing of
// tensors or of LLVM.
#ifndef ASTRA_DIALECT_CALLS_OPS
#define ASTRA_DIALECT_CALLS_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Calls_Dialect : Dialect {
  let name = "calls";
  let cppNamespace = "::astra::calls";
  let summary = "Buffers and kernel calls";
  let useDefaultTypePrinterParser = 1;
}

def Calls_ViewType : TypeDef<Calls_Dialect, "View"> {
  let mnemonic = "view";
  let summary = "A strided view of a buffer";
  let description = [{
    The element type, the extents and the strides (in elements; 0 repeats,
    negative runs backwards). Extents and strides are dimension expressions:
    `!calls.view<f32, [n, 64], [64, 1]>`. The stride of axis 1 of input 0 is the
    name `stride1@0`.
  }];
  let parameters = (ins "::mlir::Type":$elementType,
                        "::mlir::ArrayAttr":$shape,
                        "::mlir::ArrayAttr":$strides);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static ViewType get(::mlir::MLIRContext *context, ::mlir::Type element,
                        ::llvm::ArrayRef<::astra::Dim> shape,
                        ::llvm::ArrayRef<::astra::Dim> strides);
    /// Row-major strides without gaps.
    static ViewType getDense(::mlir::MLIRContext *context,
                             ::mlir::Type element,
                             ::llvm::ArrayRef<::astra::Dim> shape);
    ::llvm::SmallVector<::astra::Dim> getShapeDims() const;
    ::llvm::SmallVector<::astra::Dim> getStrideDims() const;
    unsigned getRank() const { return getShape().size(); }
    /// True if the strides are provably those of getDense.
    bool isDense() const;
  }];
}

class Calls_Op<string mnemonic, list<Trait> traits = []>
    : Op<Calls_Dialect, mnemonic, traits>;

def Calls_AllocOp : Calls_Op<"alloc"> {
  let summary = "Memory in the workspace of the call";
  let description = [{
    Dense memory that is the value's own from here to its last use. Memory
    planning gives the offset in bytes.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$offset);
  let results = (outs Calls_ViewType:$view);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($view)";
}

def Calls_ConstantOp : Calls_Op<"constant", [Pure]> {
  let summary = "Constant data of the module";
  let description = [{
    One element, which strides of 0 repeat over the view, or dense elements.
  }];
  let arguments = (ins AnyAttr:$value);
  let results = (outs Calls_ViewType:$view);
  let assemblyFormat = "$value attr-dict `as` type($view)";
}

def Calls_ViewOp : Calls_Op<"view", [Pure]> {
  let summary = "Another layout of the same memory";
  let description = [{
    Starts `offset` elements after the base, plus each index times its step.
  }];
  let arguments = (ins Calls_ViewType:$base, Variadic<I64>:$indices,
                       StrAttr:$offset, StrArrayAttr:$steps);
  let results = (outs Calls_ViewType:$view);
  let assemblyFormat = [{
    $base `offset` $offset (`indices` `(` $indices^ `)`)? `steps` $steps
    attr-dict `:` type($base) `->` type($view)
  }];
  let hasVerifier = 1;
}

def Calls_KernelOp : Calls_Op<"kernel", [AttrSizedOperandSegments]> {
  let summary = "Calls a prebuilt kernel";
  let description = [{
    Inputs first, then outputs. Parameters are integers; a string stands for
    the address of its text, a float for the bits of a double, the name of a
    `calls.fused` for the address of its description.
  }];
  let arguments = (ins StrAttr:$kernel, Variadic<Calls_ViewType>:$inputs,
                       Variadic<Calls_ViewType>:$outputs, ArrayAttr:$params,
                       I64Attr:$version);
  let assemblyFormat = [{
    $kernel `version` $version `(` $inputs `)` `->` `(` $outputs `)`
    `params` $params attr-dict `:` `(` type($inputs) `)` `->`
    `(` type($outputs) `)`
  }];
  let hasVerifier = 1;
}

def Calls_LoadOp : Calls_Op<"load"> {
  let summary = "Reads the element of a view of rank 0";
  let arguments = (ins Calls_ViewType:$view);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$view attr-dict `:` type($view) `->` type($value)";
}

def Calls_StoreOp : Calls_Op<"store"> {
  let summary = "Writes the element of a view of rank 0";
  let arguments = (ins AnyType:$value, Calls_ViewType:$view);
  let assemblyFormat =
      "$value `,` $view attr-dict `:` type($value) `,` type($view)";
}

def Calls_DimOp : Calls_Op<"dim", [Pure]> {
  let summary = "The value of a dimension expression";
  let arguments = (ins StrAttr:$value);
  let results = (outs I64:$result);
  let assemblyFormat = "$value attr-dict";
}

def Calls_CheckRangeOp : Calls_Op<"check_range"> {
  let summary = "Refuses a run-time start that leaves the axis";
  let description = [{
    The call fails unless 0 <= start and start + size <= extent.
  }];
  let arguments = (ins I64:$start, StrAttr:$size, StrAttr:$extent,
                       I64Attr:$axis);
  let assemblyFormat =
      "$start `size` $size `extent` $extent `axis` $axis attr-dict";
}

def Calls_CheckEqualOp : Calls_Op<"check_equal"> {
  let summary = "Refuses the call where two extents differ";
  let arguments = (ins StrAttr:$lhs, StrAttr:$rhs, StrAttr:$text);
  let assemblyFormat = "$lhs `,` $rhs `,` $text attr-dict";
}

def Calls_CheckNonzeroOp : Calls_Op<"check_nonzero"> {
  let summary = "Refuses an integer divisor that is 0";
  let arguments = (ins AnySignlessInteger:$divisor);
  let assemblyFormat = "$divisor attr-dict `:` type($divisor)";
}

def Calls_DebugOp : Calls_Op<"debug"> {
  let summary = "Hands a value to the runtime to be shown";
  let arguments = (ins Calls_ViewType:$view, StrAttr:$text);
  let assemblyFormat = "$text `,` $view attr-dict `:` type($view)";
}

//===- Fused kernels ------------------------------------------------------===//

def Calls_FusedOp : Calls_Op<"fused",
    [Symbol, SingleBlock, NoTerminator, IsolatedFromAbove]> {
  let summary = "A kernel of the module's own";
  let description = [{
    Becomes an `astra_fused_desc_t`. Its values are in slots: first the
    arguments of the kernel, then what stages hand on. `kinds` says where each
    slot is (arg, row, scalar, sum, prod, max, min), `types` of what type its
    elements are. The last `rows` axes are a row; without folds there are none.
    The body holds the stages, in order.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$ops, I64Attr:$args,
                       I64Attr:$rows, StrArrayAttr:$kinds,
                       TypeArrayAttr:$types);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name $ops `args` $args `rows` $rows `slots` $kinds $types
    attr-dict-with-keyword $body
  }];
}

def Calls_StageOp : Calls_Op<"stage", [SingleBlock, IsolatedFromAbove]> {
  let summary = "One pass over a row, or over one value a row";
  let description = [{
    The block's arguments are elements of the slots in `inputs`; it yields those
    of the slots in `outputs`.
  }];
  let arguments = (ins DenseI64ArrayAttr:$inputs, DenseI64ArrayAttr:$outputs,
                       UnitAttr:$per_row);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $inputs `->` $outputs (`per_row` $per_row^)? attr-dict-with-keyword
    $body
  }];
}

def Calls_ApplyOp : Calls_Op<"apply", [Pure]> {
  let summary = "What a prebuilt kernel does to one element";
  let arguments = (ins StrAttr:$kernel, Variadic<AnyType>:$elements);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $kernel `(` $elements `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Calls_YieldOp : Calls_Op<"yield", [Pure, Terminator]> {
  let summary = "The elements that a stage writes";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

//===- Tapes --------------------------------------------------------------===//

def Calls_TapeOpenOp : Calls_Op<"tape_open"> {
  let summary = "A tape of the call: the given one, or a new one for 0";
  let arguments = (ins I64:$tape);
  let results = (outs I64:$result);
  let assemblyFormat = "$tape attr-dict";
}

def Calls_TapeEntryOp : Calls_Op<"tape_entry"> {
  let summary = "Memory of an entry of a tape";
  let description = [{
    The tape grows where it does not reach the entry yet; what was never written
    is zero bytes.
  }];
  let arguments = (ins I64:$tape, I64:$index);
  let results = (outs Calls_ViewType:$view);
  let assemblyFormat = "$tape `[` $index `]` attr-dict `:` type($view)";
}

def Calls_TapeLengthOp : Calls_Op<"tape_length"> {
  let summary = "How many entries a tape reaches";
  let arguments = (ins I64:$tape);
  let results = (outs I64:$result);
  let assemblyFormat = "$tape attr-dict";
}

def Calls_TapeCloseOp : Calls_Op<"tape_close"> {
  let summary = "Gives the memory of a tape back";
  let description = [{
    `depth` 1 is a tape of numbers; the entries of a deeper one are tapes that it
    owns.
  }];
  let arguments = (ins I64:$tape, I64Attr:$depth);
  let assemblyFormat = "$tape `depth` $depth attr-dict";
}

#endif // ASTRA_DIALECT_CALLS_OPS
