// The order of operations in a block: chains that do not need one another take
// turns, memory is touched in the order of the program, and no more values are
// held than there are registers.
#include "passes/BlockOrder.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

using namespace llvm;

namespace {
class BlockOrder : public testing::Test {
protected:
  /// The operations of a function's only block after they have been ordered.
  std::vector<Instruction *> order(const std::string &body) {
    SMDiagnostic error;
    module = parseAssemblyString("define void @f(ptr %p, ptr %q, "
                                 "<16 x float> %x, <16 x float> %y) {\n" +
                                     body + "  ret void\n}\n",
                                 error, context);
    if (!module) {
      ADD_FAILURE() << error.getMessage().str();
      return {};
    }
    Function &function = *module->getFunction("f");
    astra::orderOperations(function, 512);
    EXPECT_FALSE(verifyFunction(function, &errs()));
    std::vector<Instruction *> all;
    for (Instruction &instruction : function.front())
      all.push_back(&instruction);
    return all;
  }

  static std::string chain(char name, const char *start, int length) {
    std::string text, last = start;
    for (int i = 0; i < length; ++i) {
      std::string next = "%" + std::string(1, name) + std::to_string(i);
      text += "  " + next + " = fadd <16 x float> " + last + ", %y\n";
      last = next;
    }
    return text + "  store <16 x float> " + last + ", ptr %p\n";
  }

  LLVMContext context;
  std::unique_ptr<Module> module;
};

TEST_F(BlockOrder, ChainsTakeTurns) {
  auto all = order(chain('a', "%x", 8) + chain('b', "%y", 8));
  ASSERT_EQ(all.size(), 19u);
  int changes = 0;
  for (size_t i = 1; i < 16; ++i)
    changes += all[i]->getName()[0] != all[i - 1]->getName()[0];
  EXPECT_GE(changes, 12);
}

TEST_F(BlockOrder, MemoryKeepsItsOrder) {
  auto all = order("  %a = load <16 x float>, ptr %p\n"
                   "  store <16 x float> %x, ptr %q\n"
                   "  %b = load <16 x float>, ptr %p\n"
                   "  store <16 x float> %b, ptr %p\n"
                   "  %c = load <16 x float>, ptr %q\n"
                   "  %d = fadd <16 x float> %a, %c\n"
                   "  store <16 x float> %d, ptr %q\n");
  std::string kinds;
  for (Instruction *instruction : all)
    if (instruction->mayReadOrWriteMemory())
      kinds += isa<LoadInst>(instruction) ? 'l' : 's';
  EXPECT_EQ(kinds, "lslsls");
}

/// Forty products are ready at once, and each is added to one sum.
TEST_F(BlockOrder, FewValuesAreHeld) {
  std::string body, last = "%x";
  for (int i = 0; i < 40; ++i)
    body += "  %m" + std::to_string(i) + " = fmul <16 x float> %x, %y\n";
  for (int i = 0; i < 40; ++i) {
    std::string next = "%s" + std::to_string(i);
    body += "  " + next + " = fadd <16 x float> " + last + ", %m" +
            std::to_string(i) + "\n";
    last = next;
  }
  auto all = order(body + "  store <16 x float> " + last + ", ptr %p\n");
  int held = 0, most = 0;
  for (Instruction *instruction : all) {
    held += instruction->getName().starts_with("m");
    held -= instruction->getName().starts_with("s");
    most = std::max(most, held);
  }
  EXPECT_LE(most, 24);
  EXPECT_GE(most, 2);
}
} // namespace
