// The C header of a module with structs, arrays, tuples, scalars and awkward
// names: its text, and that C99 and C++ compilers take it without a warning.
#include "mlir/IR/Builders.h"
#include "passes/CHeader.h"
#include "passes/CNames.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace astra;

static const char Dense[] =
    R"({"kind":"struct","name":"nn.Dense<64, 32>","c_name":"demo_nn_Dense_64_32","fields":[)"
    R"({"name":"w","value":{"kind":"tensor","dtype":"f32","shape":["64","32"]}},)"
    R"({"name":"b","value":{"kind":"tensor","dtype":"f32","shape":["32"]}}]})";

static std::string makeHeader(const char *module = "demo") {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  Dim n = Dim::name("n");
  ExportInfo step;
  step.name = step.symbol = "step";
  step.doc = "One step. */ still a comment /*";
  step.inValues = {
      {"m", "Net",
       std::string(
           R"({"kind":"struct","name":"Net","c_name":"demo_Net","fields":[{"name":"layers","value":{"kind":"array","count":2,"element":)") +
           Dense + "}}]}",
       0, 4},
      {"default", "f32[n]", R"({"kind":"tensor","dtype":"f32","shape":["n"]})",
       4, 1},
      {"lr", "f32", R"({"kind":"tensor","dtype":"f32","shape":[]})", 5, 1}};
  for (const char *path : {"m.layers[0].w", "m.layers[0].b", "m.layers[1].w",
                           "m.layers[1].b", "default"})
    step.inLeaves.push_back({path, f32, {n}});
  step.inLeaves.push_back({"lr", f32, {}});
  step.outValues = {{"result.0", "nn.Dense<64, 32>", Dense, 0, 2},
                    {"result.1", "f32", "", 2, 1}};
  step.outLeaves = {{"result.0.w", f32, {n}},
                    {"result.0.b", f32, {n}},
                    {"result.1", f32, {}}};
  ExportInfo nothing;
  nothing.name = nothing.symbol = "nothing";
  // The header's own names, as exports and as parameters.
  std::vector<ExportInfo> own;
  for (const char *name : {"load", "load_", "link", "release", "find", "module",
                           "module_t", "step_m"}) {
    ExportInfo &info = own.emplace_back();
    info.name = info.symbol = name;
    for (const char *word : {"stream", "result", "result_", "result0", "error",
                             "int", "int_", "astra_in", "int32_t"}) {
      unsigned leaf = info.inLeaves.size();
      info.inValues.push_back({word, "f32", "", leaf, 1});
      info.inLeaves.push_back({word, f32, {}});
    }
  }
  StructInfo dense{"demo_nn_Dense_64_32", "nn.Dense<64, 32>", "A layer.", {}};
  std::string w = R"({"kind":"tensor","dtype":"f32","shape":["64","32"]})";
  std::string b = R"({"kind":"tensor","dtype":"f32","shape":["32"]})";
  dense.fields = {{"w", "Weights.", "f32[64, 32]", w}, {"b", "", "f32[32]", b}};
  own.push_back(step);
  own.push_back(nothing);
  return makeCHeader(module, "demo.astra", "astrac 0", own, {dense});
}

TEST(Header, DeclaresStructsAndFunctions) {
  std::string text = makeHeader();
  auto has = [&](const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  };
  has("typedef struct demo_nn_Dense_64_32 {\n"
      "  astra_tensor_t w; /* f32[64, 32]: Weights. */\n"
      "  astra_tensor_t b; /* f32[32] */\n} demo_nn_Dense_64_32;");
  has("  demo_nn_Dense_64_32 at[2];");
  has("enum { demo_Net_count = 4 };");
  has("\"layers[1].w\"");
  has("demo_step(const demo_module_t *module,\n    astra_stream_t stream, "
      "demo_Net m, astra_tensor_t default_, float lr, demo_nn_Dense_64_32 "
      "*result0, astra_tensor_t *result1,\n    astra_error_t **error)");
  has("astra_in[2] = astra_value_of_tensor(m.layers.at[1].w);");
  has("astra_in[5] = astra_value_of_f32(lr);");
  has("(*result0).b = astra_out[1];");
  has("  (*result1) = astra_out[2];\n  return status;\n}");
  has("`module.fn_load` to astra_function_call");
  has("One step. * / still a comment / *");
}

TEST(Header, NamesAreIdentifiersThatNobodyElseHas) {
  EXPECT_EQ(makeCPrefix("my-file"), "my_file");
  EXPECT_EQ(makeCPrefix("1a"), "_1a");
  EXPECT_EQ(makeCPrefix("int"), "int_");
  EXPECT_EQ(makeCPrefix("astra"), "m_astra");
  EXPECT_EQ(getDescriptorSymbol("demo"), "astra_module_demo");
  EXPECT_EQ(getDescriptorSymbol("load"), "astra_module_load_");
  EXPECT_EQ(getDescriptorSymbol("t"), "astra_module_t_");
  EXPECT_EQ(getDescriptorSymbol("info_t"), "astra_module_info_t_");
  EXPECT_EQ(getDescriptorSymbol("my-file"), "astra_module_my_file");
  EXPECT_EQ(makeCExportName("load"), "load_");
  EXPECT_EQ(makeCExportName("load_"), "load__");
  EXPECT_EQ(makeCExportName("t"), "t_"); // size_t, of a module named size
  EXPECT_EQ(makeCExportName("fast8_t"), "fast8_t_");
  EXPECT_EQ(makeCExportName("cost"), "cost");
  EXPECT_EQ(makeCParameterName("result"), "result_");
  EXPECT_EQ(makeCParameterName("x_"), "x_");
}

/// A program with a runtime that refuses every call and looks at no output.
static const char Failing[] = R"(#include "demo.h"
astra_status_t astra_function_call(
    astra_runtime_t *runtime, astra_function_t function, astra_stream_t stream,
    const astra_call_options_t *options, const astra_value_t *inputs,
    size_t input_count, astra_tensor_t *outputs, size_t output_count,
    astra_error_t **error) {
  (void)runtime, (void)function, (void)stream, (void)options, (void)inputs;
  (void)input_count, (void)outputs, (void)output_count, (void)error;
  return ASTRA_ERROR_INVALID_ARGUMENT;
}
int main(void) {
  demo_module_t module;
  demo_Net net;
  demo_nn_Dense_64_32 layer;
  astra_tensor_t x = {0}, loss = {7};
  astra_stream_t stream = {0};
  memset(&module, 0, sizeof module);
  memset(&net, 0, sizeof net);
  layer.w.bits = layer.b.bits = 7;
  if (demo_step(&module, stream, net, x, 1.0f, &layer, &loss, NULL) !=
      ASTRA_ERROR_INVALID_ARGUMENT)
    return 1;
  return layer.w.bits || layer.b.bits || loss.bits ? 2 : 0;
}
)";

/// A folder of C files that goes with it.
struct Folder {
  Folder() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("astra-header", path));
  }
  ~Folder() { llvm::sys::fs::remove_directories(path); }
  void write(const char *name, const std::string &text) const {
    std::error_code code;
    llvm::raw_fd_ostream(base() + "/" + name, code) << text;
  }
  std::string base() const { return path.str().str(); }

  llvm::SmallString<128> path;
};

TEST(Header, CompilesWithoutWarnings) {
  Folder folder;
  std::string base = folder.base();
  folder.write("demo.h", makeHeader());
  folder.write("t.h", makeHeader("t")); // the API has a type astra_module_t
  const char user[] = "#include \"demo.h\"\n"
                      "int use(const demo_module_t *m, astra_stream_t s);\n"
                      "int use(const demo_module_t *m, astra_stream_t s) {\n"
                      "  return demo_nothing(m, s, NULL);\n}\n";
  folder.write("t.c", "#include \"t.h\"\n");
  folder.write("user.c", user);
  folder.write("user.cpp", user);
  std::string include = std::string(" -I") + ASTRA_RUNTIME_INCLUDE + " -I" +
                        base +
                        " -Wall -Wextra -Werror -pedantic "
                        "-fsyntax-only " +
                        base;
  EXPECT_EQ(std::system(("cc -std=c99" + include + "/user.c").c_str()), 0);
  EXPECT_EQ(std::system(("cc -std=c99" + include + "/t.c").c_str()), 0);
  EXPECT_EQ(std::system(("c++ -std=c++17" + include + "/user.cpp").c_str()), 0);
}

TEST(Header, ResultsOfFailedCallsAreNull) {
  Folder folder;
  std::string base = folder.base();
  folder.write("demo.h", makeHeader());
  folder.write("failing.c", Failing);
  EXPECT_EQ(std::system(("cc -std=c99 -Wall -Wextra -Werror -pedantic -I" +
                         std::string(ASTRA_RUNTIME_INCLUDE) + " -I" + base +
                         " " + base + "/failing.c -o " + base + "/failing")
                            .c_str()),
            0);
  EXPECT_EQ(std::system((base + "/failing").c_str()), 0);
}
