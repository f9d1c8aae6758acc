// Walks all registered operations: each must be documented with an example, and
// have a derivative (or a reason why not) and a batching rule. A rule counts
// when the operation's own class declares it, since then it does not link
// without one.
#include "dialect/AstraOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <type_traits>

using namespace astra;
using namespace mlir;

namespace {

struct Rules {
  bool gradient = false, reason = false, batching = false;
};

template <typename Op> Rules getRules() {
  Rules rules;
  rules.gradient =
      std::is_same_v<decltype(&Op::buildVjp),
                     LogicalResult (Op::*)(OpBuilder &, ValueRange,
                                           SmallVectorImpl<Value> &)> &&
      std::is_same_v<decltype(&Op::buildJvp),
                     LogicalResult (Op::*)(OpBuilder &, ValueRange,
                                           SmallVectorImpl<Value> &)>;
  rules.reason = Op::template hasTrait<GradientReason>();
  rules.batching =
      std::is_same_v<decltype(&Op::buildBatched),
                     LogicalResult (Op::*)(OpBuilder &, const Dim &,
                                           ArrayRef<BatchedValue>,
                                           SmallVectorImpl<BatchedValue> &)>;
  return rules;
}

/// Operations with regions: their rules need the walk over the region, which is
/// in passes/ (ReverseMode.h, ForwardMode.h, Batch.h).
bool isDoneByPasses(StringRef name) {
  static const llvm::StringLiteral names[] = {
      "astra.if",    "astra.for",    "astra.while", "astra.scan",
      "astra.map",   "astra.reduce", "astra.vjp",   "astra.jvp",
      "astra.yield", "astra.remat",  "astra.fused", "astra.custom_derivative"};
  return llvm::is_contained(names, name);
}

llvm::StringMap<Rules> getAllRules() {
  llvm::StringMap<Rules> all;
#define PRIM(Name, operands, doc)                                              \
  all[Name##Op::getOperationName()] = getRules<Name##Op>();
#include "frontend/check/Prims.def"
  // Those that no program writes.
  all[AttentionGradOp::getOperationName()] = getRules<AttentionGradOp>();
  all[CofactorOp::getOperationName()] = getRules<CofactorOp>();
  all[OverlapAddOp::getOperationName()] = getRules<OverlapAddOp>();
  all[Sech2Op::getOperationName()] = getRules<Sech2Op>();
  all[TapeNewOp::getOperationName()] = getRules<TapeNewOp>();
  all[TapeNoneOp::getOperationName()] = getRules<TapeNoneOp>();
  all[TapeEitherOp::getOperationName()] = getRules<TapeEitherOp>();
  all[TapeAddOp::getOperationName()] = getRules<TapeAddOp>();
  all[TapeReadOp::getOperationName()] = getRules<TapeReadOp>();
  all[TapeWriteOp::getOperationName()] = getRules<TapeWriteOp>();
  return all;
}

SmallVector<std::string> getOpNames(MLIRContext &context) {
  context.loadDialect<AstraDialect>();
  SmallVector<std::string> names;
  for (RegisteredOperationName op :
       context.getRegisteredOperationsByDialect("astra"))
    names.push_back(op.getStringRef().str());
  return names;
}

/// The pages that mlir-tblgen makes of the .td files, joined.
std::string readPages() {
  std::string text;
  StringRef rest = ASTRA_OP_PAGES;
  while (!rest.empty()) {
    auto [path, tail] = rest.split(':');
    auto file = llvm::MemoryBuffer::getFile(path);
    EXPECT_TRUE(file) << path.str();
    if (file)
      text += (*file)->getBuffer().str();
    rest = tail;
  }
  return text;
}

/// The part of the pages about one operation.
StringRef getPage(StringRef pages, const std::string &name) {
  size_t begin = pages.find("### `" + name + "`");
  if (begin == StringRef::npos)
    return "";
  StringRef page = pages.drop_front(begin);
  return page.take_front(page.find("\n### ", 1));
}

TEST(OpRegistry, EveryOpIsDocumented) {
  MLIRContext context;
  std::string pages = readPages();
  SmallVector<std::string> names = getOpNames(context);
  EXPECT_GT(names.size(), 110u);
  for (const std::string &name : names) {
    SCOPED_TRACE(name);
    StringRef page = getPage(pages, name);
    ASSERT_FALSE(page.empty()) << "no page";
    StringRef second = page.split('\n').second.ltrim();
    EXPECT_TRUE(second.starts_with("_")) << "no summary";
    EXPECT_TRUE(page.contains("Example:\n")) << "no example";
    EXPECT_TRUE(page.contains("```mlir")) << "no example";
    EXPECT_TRUE(page.split("```mlir").second.split("```").first.contains(name))
        << "the example does not show the operation";
  }
}

TEST(OpRegistry, EveryOpHasADerivativeOrAReason) {
  MLIRContext context;
  llvm::StringMap<Rules> rules = getAllRules();
  for (const std::string &name : getOpNames(context)) {
    SCOPED_TRACE(name);
    if (isDoneByPasses(name))
      continue;
    EXPECT_TRUE(rules[name].gradient || rules[name].reason);
    EXPECT_FALSE(rules[name].gradient && rules[name].reason);
  }
}

TEST(OpRegistry, EveryOpHasABatchingRule) {
  MLIRContext context;
  llvm::StringMap<Rules> rules = getAllRules();
  for (const std::string &name : getOpNames(context)) {
    SCOPED_TRACE(name);
    if (!isDoneByPasses(name)) {
      EXPECT_TRUE(rules[name].batching);
    }
  }
}

TEST(OpRegistry, EveryPrimitiveHasItsOp) {
  MLIRContext context;
  SmallVector<std::string> names = getOpNames(context);
  for (const auto &entry : getAllRules())
    EXPECT_TRUE(llvm::is_contained(names, entry.getKey().str()))
        << entry.getKey().str();
}

} // namespace
