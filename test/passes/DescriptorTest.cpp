// What the descriptor states, read back through the C API; and what the files
// have in them.
#include "Compiled.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

static const char Text[] = R"(module attributes {astra.module = "demo"} {
  func.func @f(%w: !astra.tensor<f32, [n, "2*d + 1"]>, %k: !astra.tensor<ui8, []>) -> !astra.tensor<f32, ["2*d + 1", n]> attributes {astra.export = {doc = "Turns.", dims = ["n", "d"], in_values = [{name = "m", type = "M<n, d>", tree = "{}", leaves = ["m.w"]}, {name = "k", type = "u8", tree = "{}", leaves = ["k"]}], out_values = [{name = "result", type = "f32[2*d + 1, n]", tree = "{}", leaves = ["result"]}]}} {
    %e = astra.exp %w : !astra.tensor<f32, [n, "2*d + 1"]>
    %t = astra.transpose %e {perm = array<i64: 1, 0>} : (!astra.tensor<f32, [n, "2*d + 1"]>) -> !astra.tensor<f32, ["2*d + 1", n]>
    return %t : !astra.tensor<f32, ["2*d + 1", n]>
  }
  func.func @t() attributes {astra.test = "nothing"} {
    return
  }
})";

TEST(Descriptor, ModuleStatesItsKernels) {
  Compiled program(Text);
  ASSERT_EQ(program.error, "");
  astra_module_info_t info;
  ASTRA_INIT(MODULE_INFO, &info);
  astra_module_info(program.runtime, program.module, &info, nullptr);
  EXPECT_STREQ(info.name, "demo");
  EXPECT_STREQ(info.compiler, "test 1");
  EXPECT_STREQ(info.cpu_levels, "x86-64-v3");
  EXPECT_EQ(info.object_abi, 3u);
  EXPECT_EQ(info.arithmetic, 1u);
  EXPECT_EQ(info.function_count, 2u);
  ASSERT_EQ(info.kernel_count, 2u);
  const char *name;
  uint32_t version;
  astra_module_kernel(program.runtime, program.module, 0, &name, &version,
                      nullptr, nullptr);
  EXPECT_STREQ(name, "exp_f32");
  EXPECT_GE(version, 1u);
  astra_module_kernel(program.runtime, program.module, 1, &name, nullptr,
                      nullptr, nullptr);
  EXPECT_STREQ(name, "copy_b32");
}

TEST(Descriptor, FunctionsStateTheirLeaves) {
  Compiled program(Text);
  ASSERT_EQ(program.error, "");
  astra_function_t function, test;
  astra_module_function_at(program.runtime, program.module, 0, &function,
                           nullptr);
  astra_module_function_at(program.runtime, program.module, 1, &test, nullptr);
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  astra_function_info(program.runtime, function, &info, nullptr);
  EXPECT_STREQ(info.name, "f");
  EXPECT_STREQ(info.doc, "Turns.");
  ASSERT_EQ(info.dim_count, 2u);
  EXPECT_STREQ(info.dim_names[0], "n");
  EXPECT_STREQ(info.dim_names[1], "d");
  EXPECT_EQ(info.parameter_count, 2u);
  EXPECT_EQ(info.input_count, 2u);
  EXPECT_EQ(info.output_count, 1u);
  EXPECT_EQ(info.flags, 0u);

  astra_value_info_t value;
  ASTRA_INIT(VALUE_INFO, &value);
  astra_function_parameter(program.runtime, function, 0, &value, nullptr);
  EXPECT_STREQ(value.name, "m");
  EXPECT_STREQ(value.type, "M<n, d>");
  EXPECT_EQ(value.first_leaf, 0u);
  EXPECT_EQ(value.leaf_count, 1u);

  astra_leaf_info_t leaf;
  ASTRA_INIT(LEAF_INFO, &leaf);
  astra_function_input(program.runtime, function, 0, &leaf, nullptr);
  EXPECT_STREQ(leaf.path, "m.w");
  EXPECT_EQ(leaf.dtype, ASTRA_F32);
  ASSERT_EQ(leaf.rank, 2u);
  EXPECT_STREQ(leaf.shape[0], "n");
  EXPECT_STREQ(leaf.shape[1], "2*d + 1");
  astra_function_input(program.runtime, function, 1, &leaf, nullptr);
  EXPECT_EQ(leaf.dtype, ASTRA_U8);
  EXPECT_EQ(leaf.rank, 0u);

  astra_function_info(program.runtime, test, &info, nullptr);
  EXPECT_STREQ(info.name, "nothing");
  EXPECT_EQ(info.flags, ASTRA_FUNCTION_TEST);
}

TEST(Descriptor, TheSameBytesEachTime) {
  std::string error;
  std::string one = compileObject(Text, false, error);
  std::string two = compileObject(Text, false, error);
  ASSERT_EQ(error, "");
  EXPECT_EQ(one, two);
  EXPECT_EQ(linkModule(one, error), linkModule(two, error));
  EXPECT_EQ(one.find("/tmp"), std::string::npos);
}

static std::vector<std::string> getSymbols(const std::string &bytes,
                                           bool dynamic) {
  std::vector<std::string> names;
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(bytes);
  auto file =
      llvm::object::ObjectFile::createELFObjectFile(buffer->getMemBufferRef());
  if (!file)
    return {"no ELF file"};
  auto *elf = llvm::cast<llvm::object::ELFObjectFileBase>(file->get());
  auto add = [&](llvm::object::SymbolRef symbol) {
    if (*symbol.getFlags() & llvm::object::SymbolRef::SF_Global)
      names.push_back(symbol.getName()->str());
  };
  if (dynamic)
    llvm::for_each(elf->getDynamicSymbolIterators(), add);
  else
    llvm::for_each(elf->symbols(), add);
  return names;
}

TEST(Descriptor, FilesExportOneSymbolAndNeedNone) {
  std::string error;
  std::string object = compileObject(Text, false, error);
  EXPECT_EQ(getSymbols(object, false),
            std::vector<std::string>{"astra_module_demo"});
  std::string linked = linkModule(compileObject(Text, true, error), error);
  EXPECT_EQ(getSymbols(linked, true), std::vector<std::string>{"astra_module"});
  EXPECT_EQ(error, "");
}

TEST(Descriptor, RefusesWhatItCannotCompile) {
  std::string error;
  EXPECT_EQ(compileObject("func.func @f(", false, error), "");
  EXPECT_NE(error, "");
  error.clear();
  EXPECT_EQ(
      compileObject(
          R"(func.func @f() attributes {astra.device = "cuda:0"} { return })",
          false, error),
      "");
  EXPECT_NE(error.find("\"cpu\" only"), std::string::npos) << error;
}
