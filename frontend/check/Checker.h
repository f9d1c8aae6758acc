// The checker's state and steps, one class over several files: Modules
// (loading), Scope (names), Types, Unify, Consts, Structs, CheckItems,
// CheckExpr, CheckCalls, CheckIndex, CheckLoops, Comprehension, Transforms,
// Builtins*. Internal to frontend/check. No MLIR.
//
// A mistake is reported once: whatever is built on it is Value::error(), which
// nobody reports again. `bindings` is the list of lets of the block that is
// being built; any expression may add temporaries to it.
#ifndef ASTRA_FRONTEND_CHECK_CHECKER_H
#define ASTRA_FRONTEND_CHECK_CHECKER_H

#include "frontend/check/Calls.h"
#include "frontend/check/Check.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SaveAndRestore.h"

namespace astra::check {

class Checker {
public:
  Checker(const CheckOptions &options, SourceManager &sources,
          DiagnosticEngine &diags, hir::Program &program)
      : options(options), sources(sources), diags(diags), program(program),
        types(program.types) {}
  void run(uint32_t mainFile);

private:
  //===-- Modules.cpp -----------------------------------------------------===//
  Module *loadModule(uint32_t file, std::string path, bool isStd);
  void declare(Module &module);
  bool hasReports(SourceRange head, const ast::Expr *body);
  void loadImports(Module &module);
  Module *findImport(const ast::ImportItem &import, Module &from);
  Module *importPath(const ast::ImportItem &import, const std::string &path,
                     bool isStd);
  std::optional<std::string> readFile(const std::string &path);
  Module *getStdModule(llvm::StringRef name); // for `random` without import
  bool isStdModule(llvm::StringRef name);

  //===-- CheckItems.cpp --------------------------------------------------===//
  void checkItems(Module &module, bool isMain);
  void checkGenerically(FnDecl &decl);
  void checkExport(FnDecl &decl);
  void checkTest(const ast::TestItem &test, Module &module);
  void collectStructs(TypeRef type);
  void collectGenerics(FnDecl &decl);
  void collectBinding(const ast::TypeExpr *type, Module &module,
                      std::vector<Generic> &generics);
  Instance *getInstance(FnDecl &decl, const Substitution &subst,
                        SourceRange at);
  std::unique_ptr<Instance> makeInstance(FnDecl &decl,
                                         const Substitution &subst);
  void checkBody(FnDecl &decl, Instance &instance);
  void checkStruct(StructDecl &decl);
  void bindGenerics(FnDecl &decl, const Substitution &subst,
                    Instance &instance);
  void bindParams(FnDecl &decl, Instance &instance);
  std::vector<std::string> treeNames(FnDecl &decl, const Substitution &subst);
  std::string instanceKey(FnDecl &decl, const Substitution &subst);
  Substitution representatives(FnDecl &decl, bool second);
  bool isBoundByParam(FnDecl &decl, const Generic &generic);
  bool isDevice(const ast::Ident &name);
  void checkDerivative(FnDecl &decl, Instance &instance);
  std::unique_ptr<hir::FnLit> checkRule(const ast::LambdaExpr *rule, bool isVjp,
                                        FnDecl &decl, Instance &instance);

  //===-- Scope.cpp -------------------------------------------------------===//
  Env bind(llvm::StringRef name, SourceRange range, Value value);
  Env bindType(llvm::StringRef name, TypeRef type);
  Env bindPack(llvm::StringRef name, std::vector<Dim> dims);
  Env push(EnvEntry entry);
  Env lookup(llvm::StringRef name) const;
  Value checkName(const ast::NameExpr *e, Expected expected);
  std::optional<Value> lookupModuleName(Module &module, llvm::StringRef name,
                                        SourceRange range, Expected expected);
  std::optional<Value> lookupMember(const ast::FieldExpr *e, Expected expected);
  /// The module that an expression names (`nn` in `nn.dense`), or null.
  Module *asModule(const ast::Expr *e, bool &isModule);
  void reportUnknownName(llvm::StringRef name, SourceRange range,
                         llvm::StringRef what, Module *in = nullptr);
  void bindPattern(const ast::Pattern *pattern, Value value);
  FnValue *makeFn(FnValue value);
  const FnValue *declFn(FnDecl *decl, SourceRange range);
  std::optional<Builtin> findBuiltin(llvm::StringRef name) const;

  //===-- Types.cpp -------------------------------------------------------===//
  /// Null after a report.
  TypeRef resolveType(const ast::TypeExpr *type);
  TypeRef resolveNamed(const ast::TypeExpr *type);
  bool resolveShape(llvm::ArrayRef<ast::Expr *> dims, Shape &shape);
  std::optional<Dim> resolveDim(const ast::Expr *e);
  /// An expression read as a type (`f32[n]`, `T`, `Mlp`); null if it is not
  /// one, with a report if `mustBe`.
  TypeRef typeFromExpr(const ast::Expr *e, bool mustBe);
  bool looksLikeType(const ast::Expr *e);
  std::optional<TypeRef> lookupType(llvm::StringRef name);
  StructDecl *findStruct(const ast::Ident &module, const ast::Ident &name,
                         bool report);
  static std::optional<DType> parseDType(llvm::StringRef name);

  //===-- Structs.cpp -----------------------------------------------------===//
  GenericKind classifyGeneric(const ast::GenericParam &param);
  void collectGenerics(StructDecl &decl);
  Value checkInit(const ast::FieldInit &init, Expected expected);
  void bindStructArgs(StructDecl &decl, TypeRef type, Substitution &subst);
  TypeRef resolveField(const ast::TypeExpr *type, StructDecl &decl,
                       const Substitution &subst);
  Value finishStructLit(const ast::StructLitExpr *e, StructDecl &decl,
                        const Substitution &subst, size_t count,
                        llvm::function_ref<Value(size_t)> field);
  TypeRef instantiate(StructDecl &decl, std::vector<Dim> dims,
                      std::vector<TypeRef> typeArgs, SourceRange at);
  Value checkStructLit(const ast::StructLitExpr *e, Expected expected);
  Value checkField(const ast::FieldExpr *e, Expected expected);
  Value getField(Value base, const ast::Ident &field, SourceRange range);
  Value checkWithFields(const ast::WithExpr *e, Value base);
  std::vector<TypeRef> leaves(TypeRef type);
  std::vector<std::string> leafPaths(TypeRef type);
  bool isTree(TypeRef type) const { // of several leaves
    return type->kind != hir::TypeKind::Tensor &&
           type->kind != hir::TypeKind::Fn;
  }
  /// Applies `f` to the leaves of trees of one type, side by side, and gathers
  /// the results in a tree of the same form. Null if `f` gave null.
  hir::Expr *
  mapLeaves(std::vector<hir::Expr *> trees, SourceRange range,
            llvm::function_ref<hir::Expr *(llvm::ArrayRef<hir::Expr *>,
                                           const std::string &path)>
                f,
            const std::string &path = "");
  /// The tree's type with `f` applied to each leaf's.
  TypeRef mapLeafTypes(TypeRef type, llvm::function_ref<TypeRef(TypeRef)> f);

  //===-- Unify.cpp -------------------------------------------------------===//
  /// Binds generics of `subst` that stand alone in `pattern`. Says nothing when
  /// the two do not fit: the comparison of types that follows does.
  void match(const ast::TypeExpr *pattern, TypeRef actual,
             llvm::ArrayRef<Generic> generics, Module &module,
             Substitution &subst);
  void matchDims(llvm::ArrayRef<ast::Expr *> pattern,
                 llvm::ArrayRef<Dim> actual, llvm::ArrayRef<Generic> generics,
                 Substitution &subst);
  /// Equal, or a report that says how not. `what`: "the argument `x`".
  bool requireType(TypeRef found, TypeRef expected, SourceRange range,
                   const llvm::Twine &what);
  bool requireType(Value &value, TypeRef expected, const llvm::Twine &what);
  /// The first pair of extents that is not provably equal, in types of the same
  /// form.
  std::optional<std::pair<Dim, Dim>> findDifference(TypeRef a, TypeRef b);
  bool sameForm(TypeRef a, TypeRef b);
  /// Proved equal, or a report (refuted or not provable).
  bool requireEqual(const Dim &a, const Dim &b, SourceRange range,
                    const llvm::Twine &what);
  bool isProvablyEqual(const Dim &a, const Dim &b) {
    return a == b || Dim::compare(a, b) == DimProof::Equal;
  }

  //===-- Consts.cpp ------------------------------------------------------===//
  LiteralClass literalClass(const ast::Expr *e, unsigned level = 0);
  LiteralClass constClass(ConstDecl &decl, unsigned level);
  bool isElementwiseCall(const ast::CallExpr *call);
  hir::Expr *makeIntLit(uint64_t magnitude, bool negative, DType dtype,
                        SourceRange range);
  hir::Expr *makeFloatLit(llvm::StringRef text, bool negative, DType dtype,
                          SourceRange range);
  hir::Expr *makeInt(int64_t value, DType dtype, SourceRange range);
  hir::Expr *makeFloat(double value, DType dtype, SourceRange range);
  hir::Expr *makeBool(bool value, SourceRange range);
  Value checkConst(ConstDecl &decl, SourceRange range, Expected expected);
  /// An integer known at compile time and free of dimensions (axis = 1).
  std::optional<int64_t> constantInt(const ast::Expr *e,
                                     llvm::StringRef help = "");
  std::optional<bool> constantBool(const ast::Expr *e);
  /// A dimension expression in argument position (reshape's shape, top_k's k).
  std::optional<Dim> dimArgument(const ast::Expr *e);

  //===-- CheckExpr.cpp ---------------------------------------------------===//
  Value check(const ast::Expr *e, Expected expected = {});
  Value checkKind(const ast::Expr *e, Expected expected);
  /// A run-time value, or null after a report.
  hir::Expr *checkRuntime(const ast::Expr *e, Expected expected = {});
  hir::Expr *toRuntime(const Value &value, SourceRange range);
  Value checkUnary(const ast::UnaryExpr *e, Expected expected);
  Value checkBinary(const ast::BinaryExpr *e, Expected expected);
  Value checkLogical(const ast::BinaryExpr *e);
  Value checkPow(const ast::BinaryExpr *e, Expected expected);
  Expected hintOf(const Value &value);
  void checkOperands(const ast::Expr *lhs, const ast::Expr *rhs, Expected hint,
                     Value &l, Value &r);
  hir::Expr *checkCondition(const ast::Expr *e);
  TypeRef patternType(const ast::Pattern *pattern);
  Value tupleValue(std::vector<Value> values);
  std::vector<Expected> partsOf(const Expected &expected, size_t size);
  Expected elementOf(Expected expected);
  hir::Expr *stackValues(llvm::ArrayRef<hir::Expr *> elements,
                         SourceRange range);
  Value checkIf(const ast::IfExpr *e, Expected expected);
  Value checkBlock(const ast::BlockExpr *e, Expected expected);
  void checkStatement(const ast::Statement &statement);
  Value checkTuple(const ast::TupleExpr *e, Expected expected);
  Value checkArray(const ast::ArrayExpr *e, Expected expected);
  Value checkAs(const ast::AsExpr *e);
  Value checkOn(const ast::OnExpr *e, Expected expected);
  Value binary(ast::BinaryOp op, SourceRange opRange, SourceRange range,
               Value lhs, Value rhs);
  Value treeArithmetic(Prim prim, SourceRange opRange, SourceRange range,
                       Value lhs, Value rhs);
  hir::Expr *elementwise(Prim prim, hir::Expr *lhs, hir::Expr *rhs,
                         SourceRange range, llvm::StringRef opText);
  hir::Expr *matmul(hir::Expr *lhs, hir::Expr *rhs, SourceRange range);
  std::optional<Dim> foldDim(ast::BinaryOp op, const Value &lhs,
                             const Value &rhs);

  //===-- Build.cpp: making typed nodes -----------------------------------===//
  Value expr(hir::Expr *e, std::optional<Dim> dim = std::nullopt);
  Value fn(const FnValue *fn);
  hir::Expr *prim(Prim prim, TypeRef type, llvm::ArrayRef<hir::Expr *> operands,
                  SourceRange range, std::vector<int64_t> ints = {},
                  std::vector<Dim> dims = {}, std::string text = "");
  hir::Expr *unary(Prim p, hir::Expr *x) {
    return prim(p, x->type, {x}, x->range);
  }
  /// Same shapes and dtypes.
  hir::Expr *binaryPrim(Prim p, hir::Expr *a, hir::Expr *b) {
    return prim(p, a->type, {a, b}, a->range);
  }
  hir::Expr *compare(Prim p, hir::Expr *a, hir::Expr *b);
  hir::Expr *dimValue(const Dim &dim, SourceRange range); // i64 scalar
  Value dimAsValue(const Dim &dim, SourceRange range);
  hir::Expr *local(hir::Local *local, SourceRange range);
  Value localValue(hir::Local *local, SourceRange range);
  hir::Expr *get(hir::Expr *base, unsigned index, SourceRange range);
  hir::Expr *makeTuple(llvm::ArrayRef<hir::Expr *> elements, SourceRange range);
  hir::Expr *makeTree(TypeRef type, llvm::ArrayRef<hir::Expr *> elements,
                      SourceRange range);
  hir::Expr *convert(hir::Expr *e, DType dtype);
  hir::Expr *broadcastTo(hir::Expr *e, const Shape &shape); // provably fits
  hir::Expr *splat(hir::Expr *scalar, const Shape &shape);
  hir::Expr *reshape(hir::Expr *e, const Shape &shape);
  hir::Expr *transpose(hir::Expr *e, std::vector<int64_t> perm);
  hir::Expr *reduce(Prim p, hir::Expr *e, std::vector<int64_t> axes);
  hir::Expr *expandAxis(hir::Expr *e, unsigned axis);
  hir::Expr *contract(hir::Expr *a, hir::Expr *b, std::vector<int64_t> batchA,
                      std::vector<int64_t> batchB, std::vector<int64_t> onA,
                      std::vector<int64_t> onB);
  hir::Expr *sliceAxis(hir::Expr *e, unsigned axis, Dim begin, Dim extent);
  /// A let in the current block, so that `e` may be used several times.
  hir::Expr *temp(hir::Expr *e, llvm::StringRef name = "t");
  void effect(hir::Expr *e);
  /// Runs `f` with a new list of lets, and wraps its result in them.
  hir::Expr *scoped(llvm::function_ref<hir::Expr *()> f);
  std::optional<Shape> broadcastShapes(const Shape &a, const Shape &b,
                                       SourceRange range, llvm::StringRef what);
  TypeRef tensor(DType dtype, Shape shape) {
    return types.getTensor(dtype, std::move(shape));
  }
  TypeRef withDType(TypeRef type, DType dtype) {
    return types.getTensor(dtype, type->shape);
  }
  /// An integer scalar as the i64 that slices and loops want.
  hir::Expr *asI64(hir::Expr *e) { return convert(e, DType::I64); }

  //===-- CheckCalls.cpp --------------------------------------------------===//
  Value checkCall(const ast::CallExpr *e, Expected expected);
  Value checkConversion(DType dtype, const ast::CallExpr *e);
  Value apply(const FnValue &fn, Call &call);
  Value callDecl(FnDecl &decl, Call &call);
  Value callLambda(const FnValue &fn, Call &call);
  Value callParam(const FnValue &fn, Call &call);
  bool assignArgs(FnDecl &decl, Call &call, std::vector<Arg *> &byParam,
                  Substitution &subst);
  bool inferArgs(FnDecl &decl, Call &call, llvm::ArrayRef<Arg *> byParam,
                 std::vector<Value> &values, std::vector<hir::FnLit> &fnLits,
                 Substitution &subst);
  static std::string nameOfParam(const FnValue &f, size_t i);
  bool inferFnArg(FnDecl &decl, const ast::Param &param, Arg &arg,
                  hir::FnLit &lit, Substitution &subst, bool othersOk);
  bool assignGeneric(const Generic &generic, Arg &arg, Substitution &subst);
  void reportUnknownParameter(FnDecl &decl, Arg &arg);
  void bindAnnotation(const ast::TypeExpr *type, const Value &value);
  bool isIntGeneric(FnDecl &decl, llvm::StringRef rigid);
  Value checkDefault(FnDecl &decl, const ast::Param &param, TypeRef type);
  bool completeSubstitution(FnDecl &decl, Call &call, Substitution &subst);
  Value emitCall(FnDecl &decl, Instance &instance, Call &call,
                 std::vector<Value> &values, std::vector<hir::FnLit> &fnLits,
                 const Substitution &subst);
  /// A parameter's type under what is known so far; null (silently) if a
  /// generic in it is still unknown.
  TypeRef resolveUnder(const ast::TypeExpr *type, FnDecl &decl,
                       const Substitution &subst);
  /// The same in the present module: binds what `subst` knows of `generics`.
  TypeRef resolveWith(const ast::TypeExpr *type,
                      llvm::ArrayRef<Generic> generics,
                      const Substitution &subst);
  /// Its element type, where no more than that may be known.
  std::optional<DType> dtypeUnder(const ast::TypeExpr *type,
                                  const Substitution &subst);
  /// What a value of the type is wanted to be, as far as `resolve` knows; the
  /// literals in it take their types from that.
  Expected
  hintUnder(const ast::TypeExpr *type, const Substitution &subst,
            llvm::function_ref<TypeRef(const ast::TypeExpr *)> resolve);
  /// Checks an argument's expression (or gives its value).
  Value argValue(Arg &arg, Expected expected = {});
  /// The function as a literal with parameters of these types; `body` null
  /// after a report. `expected` helps literals in the body.
  hir::FnLit materialise(const FnValue &fn, llvm::ArrayRef<TypeRef> params,
                         SourceRange range, Expected expected = {});
  Value applyValues(const FnValue &fn, llvm::ArrayRef<Value> args,
                    SourceRange range, Expected expected = {});
  Value asFunction(Arg &arg, llvm::StringRef of);
  std::string describe(const FnValue &fn);

  //===-- CheckIndex.cpp --------------------------------------------------===//
  Value checkIndex(const ast::IndexExpr *e, Expected expected);
  Value indexTensor(hir::Expr *base, llvm::ArrayRef<ast::Expr *> indices,
                    SourceRange range);
  Value indexArray(Value base, const ast::IndexExpr *e);
  Value checkWith(const ast::WithExpr *e, Expected expected);
  Value checkUpdate(const ast::WithExpr *e, Value base);
  struct AxisIndex {
    enum Kind { All, Static, Dynamic, Slice, Array } kind = All;
    SourceRange range;
    Dim start, extent;          // Static, Slice
    hir::Expr *value = nullptr; // Dynamic start (i64), or the index array
    Generator *generator = nullptr;
  };
  bool classifyIndices(TypeRef base, llvm::ArrayRef<ast::Expr *> indices,
                       SourceRange range, std::vector<AxisIndex> &axes);
  bool requireInRange(const Dim &begin, const Dim &size, const Dim &extent,
                      SourceRange range, llvm::StringRef what);
  hir::Expr *sliceOf(hir::Expr *base, llvm::ArrayRef<AxisIndex> axes,
                     SourceRange range);
  bool indexArrays(llvm::ArrayRef<AxisIndex> axes,
                   std::vector<hir::Expr *> &arrays,
                   std::vector<int64_t> &places);
  static llvm::SmallVector<bool> singleAxes(llvm::ArrayRef<AxisIndex> axes);
  Value updateArray(const ast::WithExpr *e, Value base);
  hir::Expr *updateValue(const ast::WithExpr *e, DType dtype,
                         const Shape &shape);
  hir::Expr *updateSlice(hir::Expr *x, hir::Expr *part, hir::Expr *value,
                         std::string mode, SourceRange range);
  bool classifyOne(const ast::Expr *e, const Dim &extent, AxisIndex &axis);
  bool classifyRange(const ast::RangeExpr *e, const Dim &extent,
                     AxisIndex &axis);

  //===-- CheckLoops.cpp --------------------------------------------------===//
  Value checkLoop(const ast::LoopExpr *e, Expected expected);

  //===-- Comprehension.cpp -----------------------------------------------===//
  Value checkComprehension(const ast::ComprehensionExpr *e, Expected expected);
  Value checkGeneratorCall(const ast::CallExpr *call,
                           const ast::GeneratorExpr *e, const FnValue &fn,
                           Expected expected);
  hir::Expr *comprehend(const ast::Expr *body,
                        llvm::ArrayRef<ast::GeneratorRange> ranges,
                        SourceRange range, Expected expected);
  hir::Expr *comprehendFrom(const ast::Expr *body,
                            llvm::ArrayRef<ast::GeneratorRange> ranges,
                            llvm::ArrayRef<std::pair<Dim, Dim>> extents,
                            SourceRange range, Expected expected);
  bool generatorExtents(const ast::Expr *body,
                        llvm::ArrayRef<ast::GeneratorRange> ranges,
                        std::vector<std::pair<Dim, Dim>> &extents);
  void findExtent(const ast::Expr *e, llvm::StringRef name,
                  std::vector<std::pair<Dim, SourceRange>> &found);
  std::optional<Value>
  productPattern(const ast::Expr *body,
                 llvm::ArrayRef<ast::GeneratorRange> ranges, SourceRange range);
  hir::Expr *sliceByGenerator(Generator &generator, hir::Expr *base,
                              size_t axis);
  hir::Expr *mapOverGenerator(Generator &generator, hir::Expr *body,
                              SourceRange range);
  Value arrayFromMap(hir::Expr *mapped, const Dim &length, SourceRange range);
  /// `a[i]` where `i` is a generator over the whole of that axis: the slice.
  hir::Expr *generatorSlice(const ast::IndexExpr *e, hir::Expr *base,
                            std::vector<ast::Expr *> &rest);

  //===-- Transforms.cpp --------------------------------------------------===//
  Value applyTransform(const FnValue &fn, Call &call);
  Value applyGrad(const FnValue &fn, Call &call);
  Value applyJacobian(const FnValue &fn, Call &call);
  Value applyHessian(const FnValue &fn, Call &call);
  Value applyVmap(const FnValue &fn, Call &call);
  Value applyRemat(const FnValue &fn, Call &call);
  Value applyPullback(const FnValue &fn, Call &call);
  Value makeTransform(FnTransform transform, Call &call);
  Value vmapValues(const FnValue &fn, std::vector<Value> args,
                   std::vector<int64_t> axes, SourceRange range);

  //===-- Builtins.cpp and its neighbours ---------------------------------===//
public:
  using Handler = Value (Checker::*)(Call &call);
  struct BuiltinInfo {
    llvm::StringRef name;
    Handler handler;
    Prim prim;                 // what a handler of several rows emits
    llvm::StringRef signature; // as help shows it
  };
  static const BuiltinInfo &getBuiltin(Builtin builtin);

private:
  Value callBuiltin(Builtin builtin, Call &call);
  /// Sorts arguments by the names given: `out[k]` is null where left out. The
  /// first `required` must be there. False after a report.
  bool takeArgs(Call &call, llvm::ArrayRef<llvm::StringRef> names,
                unsigned required, std::vector<Arg *> &out);
  Value error() { return Value::error(); }
#define HANDLER(name) Value name(Call &call);
#include "frontend/check/Builtins.def"

  // Helpers of several built-in functions.
  hir::Expr *tensorArg(Arg &arg, Expected expected = {});
  hir::Expr *floatArg(Arg &arg, Call &call, Expected expected = {});
  /// The arguments (x, axis): null after a report; `axis` may be left out.
  hir::Expr *tensorAndAxis(Call &call, Arg *&axis);
  std::optional<int64_t> axisArg(Arg *arg, unsigned rank, int64_t byDefault);
  std::optional<std::vector<int64_t>> axesArg(Arg *arg, unsigned rank);
  std::optional<int64_t> normaliseAxis(int64_t axis, unsigned rank,
                                       SourceRange range);
  std::optional<Shape> shapeArg(Arg &arg, const Dim *total);
  TypeRef typeArg(Arg &arg);
  Value elementwiseUnary(Call &call, bool floatOnly);
  Value elementwiseBinary(Call &call, llvm::function_ref<bool(DType)> allowed,
                          llvm::StringRef wanted);
  Value reduction(Call &call, llvm::function_ref<bool(DType)> allowed,
                  llvm::StringRef wanted);
  bool checkTwo(Arg &a, Arg &b, hir::Expr *&x, hir::Expr *&y,
                Expected expected = {});
  hir::Expr *restoreAxes(hir::Expr *e, const Shape &full,
                         llvm::ArrayRef<int64_t> axes);

  // BuiltinsShape.cpp, BuiltinsEinsum.cpp, BuiltinsRandom.cpp
  std::optional<Dim> dimArg(Arg &arg);
  /// The arguments (key, type), the type one of tensors of such elements.
  hir::Expr *keyAndType(Call &call, TypeRef &type,
                        llvm::function_ref<bool(DType)> allowed,
                        llvm::StringRef elements);
  /// The elements of an array or tuple that was written out; one value stands
  /// for itself.
  std::vector<const ast::Expr *> writtenElements(const ast::Expr *e);
  bool takeTensors(Call &call, std::vector<hir::Expr *> &tensors, Arg *&axis);
  hir::Expr *join(std::vector<hir::Expr *> tensors, unsigned axis,
                  SourceRange range);
  hir::Expr *zero(DType dtype, SourceRange range);
  hir::Expr *iotaOf(const Shape &shape, unsigned axis, SourceRange range);
  hir::Expr *gatherDiagonal(hir::Expr *x, unsigned first, SourceRange range);
  hir::Expr *moveAxes(hir::Expr *e, llvm::ArrayRef<unsigned> front);
  bool parsePads(Arg &arg, unsigned rank, Shape &low, Shape &high);
  /// Sum over the axes, divided by their number of elements.
  hir::Expr *average(hir::Expr *x, const std::vector<int64_t> &axes,
                     SourceRange range);
  // BuiltinsWindow.cpp
  struct WindowCall;
  // BuiltinsLinalg.cpp
  struct Equation {
    hir::Expr *a = nullptr, *b = nullptr;
    bool isVector = false; // b was one
  };
  bool requireMatrix(hir::Expr *e, Call &call, size_t axes);
  bool requireSquare(hir::Expr *a, Call &call);
  TypeRef decompositionType(Prim prim, TypeRef a);
  bool equationArgs(Call &call, Arg &first, Arg &second, Equation &out);
  Value solution(Call &call, const Equation &equation,
                 std::vector<int64_t> flags);
  struct EinsumTerm;
  bool parseEinsum(Call &call, llvm::StringRef text,
                   std::vector<EinsumTerm> &terms, std::string &result);
  bool takeEinsumTensors(Call &call, std::vector<EinsumTerm> &terms);
  bool expandEllipses(Call &call, std::vector<EinsumTerm> &terms,
                      std::string &result);
  bool bindEinsum(Call &call, std::vector<EinsumTerm> &terms);
  void dropStretched(EinsumTerm &term, const std::map<char, Dim> &extents);
  void mergeRepeated(EinsumTerm &term, SourceRange range);
  EinsumTerm contractTerms(const EinsumTerm &a, const EinsumTerm &b,
                           llvm::StringRef needed);
  hir::Expr *randomWords(hir::Expr *key, const Shape &shape, SourceRange range);
  hir::Expr *uniformFrom(hir::Expr *key, TypeRef type, SourceRange range);
  hir::Expr *uniformBetween(hir::Expr *key, TypeRef type, double low,
                            double span, SourceRange range);
  hir::Expr *keyArg(Arg &arg);
  bool attentionOperands(Call &call, llvm::ArrayRef<Arg *> args,
                         std::vector<hir::Expr *> &operands);
  hir::Expr *attentionMask(Arg &arg, const Shape &pairs);
  std::optional<double> attentionScale(Arg &arg);
  struct ReductionArgs {
    hir::Expr *x = nullptr;
    std::vector<int64_t> axes;
    bool keepdims = false;
  };
  std::optional<ReductionArgs> readReduction(Call &call);
  // Transforms.cpp
  bool parseWrt(Arg &arg, FnValue &fn);
  bool parseVmapAxes(Arg &arg, FnValue &fn);
  static std::optional<DType> parameterDType(const FnValue &fn, size_t index);
  bool takeValues(const FnValue &fn, Call &call,
                  std::vector<hir::Expr *> &values);
  bool takeTuple(Arg &arg, std::vector<hir::Expr *> &values,
                 llvm::ArrayRef<TypeRef> hints);
  bool requireDifferentiable(const FnValue &fn,
                             llvm::ArrayRef<hir::Expr *> values,
                             llvm::ArrayRef<unsigned> wrt, SourceRange range);
  TypeRef derivativeType(llvm::ArrayRef<hir::Expr *> values,
                         llvm::ArrayRef<unsigned> wrt);
  hir::TransformExpr *transformExpr(hir::TransformKind kind, hir::FnLit lit,
                                    llvm::ArrayRef<hir::Expr *> values,
                                    llvm::ArrayRef<unsigned> wrt,
                                    TypeRef derivative, SourceRange range);
  // AssertGrad.cpp
  hir::Expr *directionLike(hir::Expr *tree, double start, SourceRange range);
  hir::Expr *movedAlong(hir::Expr *tree, hir::Expr *direction, double step,
                        SourceRange range);
  hir::Expr *dotTrees(hir::Expr *a, hir::Expr *b, SourceRange range);
  hir::Expr *compareGradient(const FnValue &fn, hir::FnLit lit,
                             llvm::ArrayRef<hir::Expr *> values,
                             llvm::ArrayRef<unsigned> wrt, double step,
                             double rtol, double atol, Call &call);
  hir::Expr *basis(TypeRef type, SourceRange range);
  hir::Expr *jacobianBy(const hir::FnLit &lit,
                        llvm::ArrayRef<hir::Expr *> values, unsigned index,
                        TypeRef y, TypeRef x, SourceRange range);
  TypeRef unmapped(TypeRef leaf, int64_t axis, std::optional<Dim> &length,
                   SourceRange range);
  // CheckLoops.cpp
  bool checkLoopState(const ast::LoopExpr *e, const Expected &expected,
                      std::vector<hir::Local *> &state,
                      std::vector<hir::Expr *> &init);
  void bindLoopState(llvm::ArrayRef<hir::Local *> state);
  hir::Expr *checkLoopBody(const ast::LoopExpr *e, TypeRef wanted);
  Value checkFor(const ast::LoopExpr *e, TypeRef type,
                 std::vector<hir::Local *> state,
                 std::vector<hir::Expr *> init);
  Value checkWhile(const ast::LoopExpr *e, TypeRef type,
                   std::vector<hir::Local *> state,
                   std::vector<hir::Expr *> init);
  hir::Expr *sequenceArg(Arg &arg, std::optional<Dim> &length,
                         TypeRef &element);
  TypeRef withLeadingAxis(TypeRef type, const Dim &length);
  // BuiltinsMake.cpp
  TypeRef builtinStruct(llvm::StringRef name, std::vector<std::string> fields,
                        std::vector<TypeRef> fieldTypes);
  hir::Expr *buildTree(TypeRef type, SourceRange range,
                       llvm::function_ref<hir::Expr *(TypeRef)> f);
  bool checkSameType(Arg &a, Arg &b, hir::Expr *&x, hir::Expr *&y);
  Value comparePairs(Call &call, Arg &a, Arg &b,
                     llvm::function_ref<hir::Expr *(hir::Expr *, hir::Expr *,
                                                    const std::string &)>
                         f);

  //===-- Reports ---------------------------------------------------------===//
  Diagnostic &report(DiagCode code, SourceRange range,
                     const llvm::Twine &text) {
    return diags.report(code, range, text.str());
  }
  Value fail(DiagCode code, SourceRange range, const llvm::Twine &text,
             const llvm::Twine &help = "");
  static std::string show(const Dim &dim); // without @ and %
  static bool isClosed(const Dim &dim);    // no run-time value in it
  bool enter(SourceRange range);           // depth and size limits
  unsigned freshId() { return ++counter; }

  //===-- State -----------------------------------------------------------===//
  const CheckOptions &options;
  SourceManager &sources;
  DiagnosticEngine &diags;
  hir::Program &program;
  hir::TypeContext &types;

  std::vector<std::unique_ptr<Module>> modules;
  std::map<std::string, Module *> modulesByPath;
  std::deque<FnDecl> fnDecls;
  std::deque<StructDecl> structDecls;
  std::deque<ConstDecl> constDecls;
  std::deque<FnValue> fnValues;
  std::deque<EnvEntry> envEntries;
  std::deque<std::vector<Value>> valueLists;
  std::deque<Generator> generators;
  llvm::DenseMap<const ast::Expr *, LiteralClass> literalClasses;

  // Where the checker stands.
  Module *module = nullptr;
  Env env = nullptr;
  std::vector<hir::Binding> *bindings = nullptr;
  unsigned depth = 0, counter = 0;
  uint64_t work = 0;
  bool stopped = false; // a limit was hit: everything after is an error
};

} // namespace astra::check
#endif // ASTRA_FRONTEND_CHECK_CHECKER_H
