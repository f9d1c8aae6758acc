// The emitter on typed programs made by hand: what each form becomes, how
// dimensions are substituted through calls, and the bound on expansion.
#include "frontend/emit/Emit.h"
#include "dialect/AstraOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace astra;
using hir::DType;
using hir::Expr;
using hir::Prim;
using hir::TypeRef;

namespace {

Dim dim(llvm::StringRef text) {
  // Dim::parse knows no `@`: names of scopes are made by hand.
  if (text.contains('@'))
    return Dim::name(text);
  return *Dim::parse(text);
}

class EmitTest : public ::testing::Test {
protected:
  EmitTest() {
    program.name = "test";
    file = sources.addBuffer("/folder/test.astra", "line one\nline two\n");
    range = {file, 9, 13};
  }

  TypeRef tensor(std::vector<llvm::StringRef> shape, DType dtype = DType::F32) {
    std::vector<Dim> dims;
    for (llvm::StringRef text : shape)
      dims.push_back(dim(text));
    return program.types.getTensor(dtype, dims);
  }
  TypeRef f32() { return tensor({}); }
  TypeRef i64() { return tensor({}, DType::I64); }

  hir::Local *local(std::string name, TypeRef type) {
    return program.makeLocal(std::move(name), type, range);
  }
  Expr *use(hir::Local *l) {
    auto *e = program.make<hir::LocalExpr>(l->type, range);
    e->local = l;
    return e;
  }
  hir::PrimExpr *prim(Prim p, TypeRef type, std::vector<Expr *> operands) {
    auto *e = program.make<hir::PrimExpr>(type, range);
    e->prim = p;
    e->operands = std::move(operands);
    return e;
  }
  Expr *number(int64_t value) {
    auto *e = prim(Prim::Const, i64(), {});
    e->literal.negative = value < 0;
    e->literal.magnitude = value < 0 ? -value : value;
    return e;
  }
  Expr *real(float value) {
    auto *e = prim(Prim::Const, f32(), {});
    e->literal.isInt = false;
    e->literal.value = e->literal.valueF32 = value;
    return e;
  }
  Expr *make(TypeRef type, std::vector<Expr *> elements) {
    auto *e = program.make<hir::MakeExpr>(type, range);
    e->elements = std::move(elements);
    return e;
  }
  Expr *get(Expr *base, unsigned index, TypeRef type) {
    auto *e = program.make<hir::GetExpr>(type, range);
    e->base = base;
    e->index = index;
    return e;
  }
  hir::FnInstance *function(std::string name, std::vector<std::string> dims,
                            std::vector<hir::Local *> params, Expr *body) {
    hir::FnInstance &fn = program.instances.emplace_back();
    fn.module = "test";
    fn.name = std::move(name);
    fn.dimNames = std::move(dims);
    fn.params = std::move(params);
    fn.result = body->type;
    fn.body = body;
    fn.range = range;
    return &fn;
  }
  hir::CallExpr *call(hir::FnInstance *callee, std::vector<Expr *> args,
                      std::map<std::string, Dim> dims, TypeRef type) {
    auto *e = program.make<hir::CallExpr>(type, range);
    e->callee = callee;
    e->args = std::move(args);
    e->dims = std::move(dims);
    return e;
  }
  void exportFn(hir::FnInstance *fn) {
    hir::Export entry;
    entry.fn = fn;
    entry.doc = "Says what.";
    for (hir::Local *param : fn->params)
      entry.paramTypes.push_back(hir::toString(param->type));
    entry.resultType = hir::toString(fn->result);
    program.exports.push_back(std::move(entry));
  }

  /// Emits and gives the text; empty if there were errors.
  std::string emit(EmitOptions options = {}) {
    module = emitProgram(program, sources, diags, context, options);
    std::string text;
    llvm::raw_string_ostream os(text);
    if (module)
      module->print(os);
    return text;
  }
  template <typename Op> unsigned count() {
    unsigned number = 0;
    module->walk([&](Op) { ++number; });
    return number;
  }
  template <typename Op> Op only() {
    Op found;
    module->walk([&](Op op) { found = op; });
    EXPECT_EQ(count<Op>(), 1u);
    return found;
  }
  static std::string text(mlir::Type type) {
    std::string result;
    llvm::raw_string_ostream os(result);
    os << type;
    return result;
  }

  hir::Program program;
  SourceManager sources;
  DiagnosticEngine diags{sources};
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  uint32_t file;
  SourceRange range;
};

#define EXPECT_HAS(text, part)                                                 \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(EmitTest, ExportSaysWhatCallersNeed) {
  hir::StructInfo &pair = program.structs.emplace_back();
  pair.module = "nn";
  pair.name = "Pair";
  pair.fieldNames = {"a", "b"};
  pair.fieldDocs = {"", ""};
  TypeRef type = program.types.getStruct(
      &pair, {dim("n@1")}, {}, {tensor({"n@1"}), tensor({"n@1", "64"})});
  program.exportedStructs.push_back(type);
  hir::Local *p = local("p", type);
  TypeRef result = program.types.getTuple({tensor({"n@1"}), type});
  exportFn(function("f", {"n@1"}, {p},
                    make(result, {get(use(p), 0, tensor({"n@1"})), use(p)})));
  emit();
  ASSERT_TRUE(module);
  auto fn = only<mlir::func::FuncOp>();
  EXPECT_EQ(fn.getName(), "f");
  EXPECT_EQ(text(fn.getFunctionType()),
            "(!astra.tensor<f32, [n]>, !astra.tensor<f32, [n, 64]>) -> "
            "(!astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, "
            "!astra.tensor<f32, [n, 64]>)");
  auto info = fn->getAttrOfType<mlir::DictionaryAttr>("astra.export");
  ASSERT_TRUE(info);
  EXPECT_EQ(info.getAs<mlir::StringAttr>("doc"), "Says what.");
  EXPECT_EQ(info.getAs<mlir::ArrayAttr>("dims").size(), 1u);
  auto outs = info.getAs<mlir::ArrayAttr>("out_values");
  ASSERT_EQ(outs.size(), 2u);
  auto second = llvm::cast<mlir::DictionaryAttr>(outs[1]);
  EXPECT_EQ(second.getAs<mlir::StringAttr>("type"), "nn.Pair<n>");
  auto leaves = second.getAs<mlir::ArrayAttr>("leaves");
  ASSERT_EQ(leaves.size(), 2u);
  EXPECT_EQ(llvm::cast<mlir::StringAttr>(leaves[1]).getValue(), "result.1.b");
  EXPECT_EQ(second.getAs<mlir::StringAttr>("tree").getValue(),
            "{\"kind\":\"struct\",\"name\":\"nn.Pair<n>\",\"c_name\":\"test_nn_"
            "Pair_n\",\"fields\":[{\"name\":\"a\",\"value\":{\"kind\":"
            "\"tensor\",\"dtype\":\"f32\",\"shape\":[\"n\"]}},{\"name\":\"b\","
            "\"value\":{\"kind\":\"tensor\",\"dtype\":\"f32\",\"shape\":[\"n\","
            "\"64\"]}}]}");
  auto structs = (*module)->getAttrOfType<mlir::ArrayAttr>("astra.structs");
  ASSERT_TRUE(structs);
  EXPECT_EQ(structs.size(), 1u);
}

TEST_F(EmitTest, DimensionsAreSubstitutedThroughCalls) {
  // inner<d>(x: f32[d]) = dim 2*d; outer<m>(x: f32[m + 1]) = inner(x).
  hir::Local *x = local("x", tensor({"d@3"}));
  hir::PrimExpr *value = prim(Prim::DimValue, i64(), {});
  value->dims = {Dim::constant(2) * Dim::name("d@3")};
  hir::FnInstance *inner = function("inner", {"d@3"}, {x}, value);
  TypeRef longer = program.types.getTensor(
      DType::F32, {Dim::name("m@2") + Dim::constant(1)});
  hir::Local *y = local("y", longer);
  hir::FnInstance *outer =
      function("outer", {"m@2"}, {y},
               call(inner, {use(y)},
                    {{"d@3", Dim::name("m@2") + Dim::constant(1)}}, i64()));
  TypeRef given = program.types.getTensor(
      DType::F32, {Dim::constant(3) * Dim::name("n@1") + Dim::constant(1)});
  hir::Local *z = local("z", given);
  exportFn(
      function("f", {"n@1"}, {z},
               call(outer, {use(z)},
                    {{"m@2", Dim::constant(3) * Dim::name("n@1")}}, i64())));
  std::string text = emit();
  EXPECT_HAS(text, "astra.dim \"6*n + 2\"");
  EXPECT_HAS(text, "!astra.tensor<f32, [\"3*n + 1\"]>");
}

TEST_F(EmitTest, ClosuresOfTheSameFunctionDoNotMix) {
  // apply(f, x) = f(x) + x, and f(x) calls apply again: both activations of
  // `apply` are alive, with different `x`.
  hir::Local *x = local("x", f32());
  auto *inner = program.make<hir::CallParamExpr>(f32(), range);
  inner->args = {use(x)};
  hir::FnInstance *apply =
      function("apply", {}, {x}, prim(Prim::Add, f32(), {inner, use(x)}));
  apply->fnParams = {program.types.getFn({f32()}, f32())};
  hir::Local *v = local("v", f32());
  hir::Local *w = local("w", f32());
  hir::FnLit neg;
  neg.params = {w};
  neg.body = prim(Prim::Neg, f32(), {use(w)});
  hir::CallExpr *nested =
      call(apply, {prim(Prim::Exp, f32(), {use(v)})}, {}, f32());
  nested->fnArgs = {neg};
  hir::FnLit lambda;
  lambda.params = {v};
  lambda.body = nested;
  hir::Local *p = local("p", f32());
  hir::CallExpr *body = call(apply, {use(p)}, {}, f32());
  body->fnArgs = {lambda};
  exportFn(function("f", {}, {p}, body));
  std::string text = emit();
  // (-exp(p) + exp(p)) + p
  EXPECT_HAS(text, "%0 = astra.exp %arg0");
  EXPECT_HAS(text, "%1 = astra.neg %0");
  EXPECT_HAS(text, "%2 = astra.add %1, %0");
  EXPECT_HAS(text, "%3 = astra.add %2, %arg0");
}

TEST_F(EmitTest, ForwardedParametersReachTheirFunction) {
  hir::Local *x = local("x", f32());
  auto *use0 = program.make<hir::CallParamExpr>(f32(), range);
  use0->args = {use(x)};
  hir::FnInstance *apply = function("apply", {}, {x}, use0);
  hir::Local *y = local("y", f32());
  hir::CallExpr *forward = call(apply, {use(y)}, {}, f32());
  forward->fnArgs.emplace_back().forwards = 0;
  hir::FnInstance *twice = function("twice", {}, {y}, forward);
  hir::Local *z = local("z", f32()), *w = local("w", f32());
  hir::CallExpr *body = call(twice, {use(z)}, {}, f32());
  hir::FnLit tanh;
  tanh.params = {w};
  tanh.body = prim(Prim::Tanh, f32(), {use(w)});
  body->fnArgs = {tanh};
  exportFn(function("f", {}, {z}, body));
  emit();
  ASSERT_TRUE(module);
  EXPECT_EQ(count<TanhOp>(), 1u);
}

TEST_F(EmitTest, LoopsCarryTrees) {
  hir::Local *x = local("x", f32()), *n = local("n", i64());
  TypeRef pair = program.types.getTuple({f32(), f32()});
  hir::Local *state = local("s", pair), *counter = local("t", i64());
  auto *loop = program.make<hir::ForExpr>(pair, range);
  loop->begin = number(0);
  loop->end = use(n);
  loop->counter = counter;
  loop->state = {state};
  loop->init = {make(pair, {use(x), real(1.5f)})};
  loop->body =
      make(pair, {get(use(state), 1, f32()), get(use(state), 0, f32())});
  exportFn(function("f", {}, {x, n}, loop));
  emit();
  ASSERT_TRUE(module);
  auto op = only<ForOp>();
  EXPECT_EQ(op.getNumResults(), 2u);
  auto yield = llvm::cast<YieldOp>(op.getBody().front().getTerminator());
  EXPECT_EQ(yield.getValues()[0], op.getBody().getArgument(2));
  EXPECT_EQ(yield.getValues()[1], op.getBody().getArgument(1));
}

TEST_F(EmitTest, IfMapScanAndReduceMakeRegions) {
  hir::Local *xs = local("xs", tensor({"n@1"}));
  hir::Local *a = local("a", f32()), *b = local("b", f32());
  hir::FnLit add;
  add.params = {a, b};
  add.body = prim(Prim::Add, f32(), {use(a), use(b)});
  auto *reduce = program.make<hir::ReduceExpr>(f32(), range);
  reduce->fn = add;
  reduce->init = real(0);
  reduce->xs = use(xs);
  reduce->length = dim("n@1");

  TypeRef both = program.types.getTuple({f32(), f32()});
  hir::Local *h = local("h", f32()), *x = local("x", f32());
  auto *scan = program.make<hir::ScanExpr>(
      program.types.getTuple({f32(), tensor({"n@1"})}), range);
  scan->fn.params = {h, x};
  scan->fn.body = make(both, {use(x), use(h)});
  scan->init = reduce;
  scan->xs = use(xs);
  scan->length = dim("n@1");

  hir::Local *v = local("v", f32()), *c = local("c", f32());
  auto *map = program.make<hir::MapExpr>(tensor({"n@1"}), range);
  auto *branch = program.make<hir::IfExpr>(f32(), range);
  branch->condition = prim(Prim::Lt, tensor({}, DType::Bool), {use(v), use(c)});
  branch->thenExpr = use(v);
  branch->elseExpr = prim(Prim::Neg, f32(), {use(c)});
  map->fn.params = {v, c};
  map->fn.body = branch;
  map->args = {get(scan, 1, tensor({"n@1"})), real(2)};
  map->axes = {0, -1};
  map->length = dim("n@1");
  exportFn(function("f", {"n@1"}, {xs}, map));
  emit();
  ASSERT_TRUE(module);
  EXPECT_EQ(only<ReduceOp>().getLength().str(), "n");
  EXPECT_EQ(only<ScanOp>().getNumState(), 1u);
  EXPECT_EQ(only<MapOp>().getAxes(), llvm::ArrayRef<int64_t>({0, -1}));
  EXPECT_EQ(text(only<MapOp>().getResult(0).getType()),
            "!astra.tensor<f32, [n]>");
  EXPECT_TRUE(llvm::isa<MapOp>(only<IfOp>()->getParentOp()));
}

TEST_F(EmitTest, GradientsListTheLeavesOfTheirArguments) {
  TypeRef pair = program.types.getTuple({f32(), f32()});
  hir::Local *k = local("k", i64()), *p = local("p", pair);
  hir::Local *k2 = local("k", i64()), *p2 = local("p", pair);
  auto *grad = program.make<hir::TransformExpr>(
      program.types.getTuple({f32(), pair}), range);
  grad->transform = hir::TransformKind::ValueAndGrad;
  grad->fn.params = {k2, p2};
  grad->fn.body =
      prim(Prim::Mul, f32(), {get(use(p2), 0, f32()), get(use(p2), 1, f32())});
  grad->args = {use(k), use(p)};
  grad->wrt = {1};
  exportFn(function("f", {}, {k, p}, grad));
  emit();
  ASSERT_TRUE(module);
  auto vjp = only<VjpOp>();
  EXPECT_EQ(vjp.getNumArgs(), 3u);
  EXPECT_EQ(vjp.getWrt(), llvm::ArrayRef<int64_t>({1, 2}));
  EXPECT_EQ(vjp.getNumResults(), 3u);
  auto one = vjp.getInputs().back().getDefiningOp<ConstOp>();
  ASSERT_TRUE(one);
  EXPECT_TRUE(llvm::cast<mlir::FloatAttr>(one.getValue())
                  .getValue()
                  .isExactlyValue(1.0));
}

TEST_F(EmitTest, OwnRulesLeaveIntegersOut) {
  hir::Local *x = local("x", f32()), *k = local("k", i64());
  hir::FnInstance *fn =
      function("g", {}, {x, k}, prim(Prim::Tanh, f32(), {use(x)}));
  hir::Local *rx = local("x", f32()), *rk = local("k", i64());
  hir::Local *d = local("d", f32());
  fn->vjpRule = std::make_unique<hir::FnLit>();
  fn->vjpRule->params = {rx, rk, d};
  fn->vjpRule->body =
      make(program.types.getTuple({f32(), i64()}),
           {prim(Prim::Mul, f32(), {use(d), use(rx)}), number(0)});
  hir::Local *p = local("p", f32()), *q = local("q", i64());
  exportFn(function("f", {}, {p, q}, call(fn, {use(p), use(q)}, {}, f32())));
  emit();
  ASSERT_TRUE(module);
  auto op = only<CustomDerivativeOp>();
  EXPECT_EQ(op.getVjp().getNumArguments(), 3u);
  EXPECT_EQ(op.getVjp().front().getTerminator()->getNumOperands(), 1u);
  EXPECT_TRUE(op.getJvp().empty());
}

TEST_F(EmitTest, ArraysAreStackedForARunTimeIndex) {
  TypeRef array = program.types.getArray(f32(), Dim::constant(3));
  hir::Local *xs = local("xs", array), *i = local("i", i64());
  auto *index = program.make<hir::ArrayIndexExpr>(f32(), range);
  index->base = use(xs);
  index->index = use(i);
  exportFn(function("f", {}, {xs, i}, index));
  emit();
  ASSERT_TRUE(module);
  EXPECT_EQ(text(only<ConcatOp>().getType()), "!astra.tensor<f32, [3]>");
  EXPECT_EQ(only<SliceOp>().getIndices().size(), 1u);
}

TEST_F(EmitTest, AStartThatExpansionShowsToBeOutsideIsAnErrorOfTheRun) {
  // x[5] of an f32[d], in a function called with d = 3.
  hir::Local *x = local("x", tensor({"d@2"}));
  auto *slice = prim(Prim::Slice, tensor({"1"}), {use(x)});
  slice->dims = {Dim::constant(5)};
  hir::FnInstance *fn = function("g", {"d@2"}, {x}, slice);
  hir::Local *y = local("y", tensor({"3"}));
  exportFn(
      function("f", {}, {y},
               call(fn, {use(y)}, {{"d@2", Dim::constant(3)}}, tensor({"1"}))));
  emit();
  ASSERT_TRUE(module);
  auto op = only<SliceOp>();
  EXPECT_EQ(op.getIndices().size(), 1u);
  EXPECT_FALSE(op.cannotFail());
}

TEST_F(EmitTest, NegativeExtentsOfAnExpansionAreReported) {
  hir::Local *x = local("x", tensor({"d@2"}));
  TypeRef shorter = program.types.getTensor(
      DType::F32, {Dim::name("d@2") - Dim::constant(4)});
  auto *slice = prim(Prim::Slice, shorter, {use(x)});
  slice->dims = {Dim::constant(4)};
  hir::FnInstance *fn = function("g", {"d@2"}, {x}, slice);
  hir::Local *y = local("y", tensor({"3"}));
  exportFn(
      function("f", {}, {y},
               call(fn, {use(y)}, {{"d@2", Dim::constant(3)}}, tensor({"0"}))));
  emit();
  ASSERT_EQ(diags.getErrorCount(), 1u);
  EXPECT_EQ(diags.getAll()[0].code, DiagCode::negative_extent);
}

TEST_F(EmitTest, EndlessExpansionIsAnError) {
  hir::Local *x = local("x", f32());
  hir::FnInstance *fn = function("f0", {}, {x}, use(x));
  for (int i = 1; i < 60; ++i) { // 2^59 calls without any operation
    hir::Local *y = local("y", f32());
    fn = function("f" + std::to_string(i), {}, {y},
                  call(fn, {call(fn, {use(y)}, {}, f32())}, {}, f32()));
  }
  exportFn(fn);
  EmitOptions options;
  options.maxOperations = 10000;
  EXPECT_EQ(emit(options), "");
  ASSERT_EQ(diags.getErrorCount(), 1u);
  EXPECT_EQ(diags.getAll()[0].code, DiagCode::expansion_too_large);
}

TEST_F(EmitTest, LocationsNameTheFileWithoutItsFolder) {
  hir::Local *x = local("x", f32());
  exportFn(function("f", {}, {x}, prim(Prim::Exp, f32(), {use(x)})));
  emit();
  ASSERT_TRUE(module);
  auto loc = llvm::cast<mlir::FileLineColLoc>(only<ExpOp>().getLoc());
  EXPECT_EQ(loc.getFilename().getValue(), "test.astra");
  EXPECT_EQ(loc.getLine(), 2u);
  EXPECT_EQ(loc.getColumn(), 1u);
}

TEST_F(EmitTest, TestsAreFunctionsWithTheirName) {
  auto *block = program.make<hir::BlockExpr>(program.types.getUnit(), range);
  auto *check = prim(Prim::Assert, program.types.getUnit(), {});
  auto *condition = prim(Prim::Const, tensor({}, DType::Bool), {});
  condition->literal.magnitude = 1;
  check->operands = {condition};
  check->text = "true";
  block->bindings = {{nullptr, check}};
  hir::FnInstance *fn = function("it holds", {}, {}, block);
  program.tests.push_back({"it holds", fn, range});
  emit();
  ASSERT_TRUE(module);
  auto op = only<mlir::func::FuncOp>();
  EXPECT_EQ(op->getAttrOfType<mlir::StringAttr>("astra.test"), "it holds");
  EXPECT_EQ(only<AssertOp>().getText(), "true");
}

} // namespace
