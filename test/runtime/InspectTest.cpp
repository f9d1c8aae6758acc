// Describing files without loading them: the same as loading says, for objects
// and modules, and nothing outside of a damaged file is ever looked at (run
// under AddressSanitizer this is a proof).
#include "RuntimeTesting.h"
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace astra::test;

namespace {

std::string readAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Inspect : public RuntimeTest {
protected:
  void TearDown() override {
    std::remove(path.c_str());
    RuntimeTest::TearDown();
  }
  astra_module_t inspect(const std::string &file) {
    astra_module_t module{0};
    astra_error_t *error = nullptr;
    EXPECT_EQ(astra_module_inspect(runtime, file.c_str(), &module, &error),
              ASTRA_OK)
        << takeMessage(error);
    return module;
  }
  void write(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  template <class Leaf>
  void addLeaves(std::string &text, astra_function_t function, size_t count,
                 Leaf ask) {
    for (size_t i = 0; i < count; ++i) {
      astra_leaf_info_t leaf;
      ASTRA_INIT(LEAF_INFO, &leaf);
      ASSERT_OK(ask(runtime, function, i, &leaf, &error));
      text += std::string(" ") + leaf.path + ":" + std::to_string(leaf.dtype);
      for (uint32_t axis = 0; axis < leaf.rank; ++axis)
        text += std::string(",") + leaf.shape[axis];
    }
  }

  /// All that introspection tells of a module.
  std::string describe(astra_module_t module) {
    std::string text;
    describeInto(text, module);
    return text;
  }
  void describeInto(std::string &text, astra_module_t module) {
    astra_module_info_t info;
    ASTRA_INIT(MODULE_INFO, &info);
    ASSERT_OK(astra_module_info(runtime, module, &info, &error));
    text = std::string(info.name) + info.compiler + info.options +
           info.cpu_levels + std::to_string(info.object_abi);
    for (size_t i = 0; i < info.function_count; ++i) {
      astra_function_t function{0};
      astra_function_info_t about;
      const char *source = nullptr;
      ASTRA_INIT(FUNCTION_INFO, &about);
      ASSERT_OK(
          astra_module_function_at(runtime, module, i, &function, &error));
      ASSERT_OK(astra_function_info(runtime, function, &about, &error));
      ASSERT_OK(astra_function_source(runtime, function, &source, &error));
      text += std::string("\n") + about.name + about.doc + about.memory +
              source + std::to_string(about.flags);
      for (size_t d = 0; d < about.dim_count; ++d)
        text += about.dim_names[d];
      addLeaves(text, function, about.input_count, astra_function_input);
      addLeaves(text, function, about.output_count, astra_function_output);
      for (size_t k = 0; k < about.parameter_count; ++k) {
        astra_value_info_t value;
        ASTRA_INIT(VALUE_INFO, &value);
        ASSERT_OK(
            astra_function_parameter(runtime, function, k, &value, &error));
        text += std::string(value.name) + value.type + value.tree;
      }
    }
    for (size_t i = 0; i < info.kernel_count; ++i) {
      astra_kernel_info_t kernel;
      ASTRA_INIT(KERNEL_INFO, &kernel);
      ASSERT_OK(astra_module_kernel_info(runtime, module, i, &kernel, &error));
      text += std::string("\n") + kernel.name + std::to_string(kernel.version) +
              kernel.variant + kernel.variants;
    }
  }
  std::string path = "inspect-test-" + std::to_string(getpid());
};

TEST_F(Inspect, SaysWhatLoadingSays) {
  astra_module_t loaded{0};
  ASSERT_OK(astra_module_load(runtime, TOY_MODULE, &loaded, &error));
  std::string expected = describe(loaded);
  EXPECT_NE(expected.find("add_f32"), std::string::npos);
  EXPECT_NE(expected.find("toy.astra:4:2"), std::string::npos);
  EXPECT_EQ(describe(inspect(TOY_MODULE)), expected);
  EXPECT_EQ(describe(inspect(TOY_OBJECT)), expected);
  EXPECT_EQ(describe(toy), expected);
}

TEST_F(Inspect, GivesSizes) {
  astra_module_sizes_t sizes, ofLoaded;
  ASTRA_INIT(MODULE_SIZES, &sizes);
  ASTRA_INIT(MODULE_SIZES, &ofLoaded);
  ASSERT_OK(astra_module_sizes(runtime, inspect(TOY_MODULE), &sizes, &error));
  EXPECT_EQ(sizes.file_bytes, readAll(TOY_MODULE).size());
  EXPECT_GT(sizes.code_bytes, 100u);
  EXPECT_GT(sizes.data_bytes, 100u);
  EXPECT_LT(sizes.code_bytes + sizes.data_bytes, sizes.file_bytes);
  astra_module_t loaded{0};
  ASSERT_OK(astra_module_load(runtime, TOY_MODULE, &loaded, &error));
  ASSERT_OK(astra_module_sizes(runtime, loaded, &ofLoaded, &error));
  EXPECT_EQ(ofLoaded.code_bytes, sizes.code_bytes);
  ASSERT_OK(astra_module_sizes(runtime, toy, &sizes, &error));
  EXPECT_EQ(sizes.file_bytes, 0u);
}

TEST_F(Inspect, CallsFail) {
  astra_function_t twice{0};
  ASSERT_OK(astra_module_function(runtime, inspect(TOY_MODULE), "twice", &twice,
                                  &error));
  astra_value_t in = astra_value_of_tensor(floats({1}, {1}));
  astra_tensor_t out{0};
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "inspected, not loaded",
               astra_function_call(runtime, twice, stream, nullptr, &in, 1,
                                   &out, 1, &error));
  EXPECT_EQ(out.bits, 0u);
}

TEST_F(Inspect, DescribesWhatCannotBeLoaded) {
  astra_kernel_info_t kernel;
  ASTRA_INIT(KERNEL_INFO, &kernel);
  ASSERT_OK(astra_module_kernel_info(runtime, inspect(TOY_KERNELS_MODULE), 0,
                                     &kernel, &error));
  EXPECT_STREQ(kernel.name, "fly_f32");
  EXPECT_EQ(kernel.flags, ASTRA_KERNEL_MISSING);
  EXPECT_STREQ(kernel.variant, "");
}

TEST_F(Inspect, RefusesWhatItDoesNotKnow) {
  astra_module_t module{0};
  EXPECT_FAILS(
      ASTRA_ERROR_UNSUPPORTED_VERSION, "object ABI version 99",
      astra_module_inspect(runtime, TOY_FUTURE_MODULE, &module, &error));
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "no symbol \"astra_module\"",
               astra_module_inspect(runtime, ASTRA_LIBRARY, &module, &error));
  EXPECT_FAILS(ASTRA_ERROR_IO, "/no/file",
               astra_module_inspect(runtime, "/no/file", &module, &error));
  write("not an object");
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "no ELF file",
               astra_module_inspect(runtime, path.c_str(), &module, &error));
}

/// Any outcome but a crash is right, and a description must be a whole one.
void tryBytes(astra_runtime_t *runtime, const std::string &path,
              const std::string &bytes, unsigned &described) {
  std::ofstream(path, std::ios::binary) << bytes;
  astra_module_t module{0};
  if (astra_module_inspect(runtime, path.c_str(), &module, nullptr) != ASTRA_OK)
    return;
  ++described;
  astra_module_info_t info;
  ASTRA_INIT(MODULE_INFO, &info);
  ASSERT_OK(astra_module_info(runtime, module, &info, &error));
  for (size_t i = 0; i < info.function_count; ++i) {
    astra_function_t function{0};
    ASSERT_OK(astra_module_function_at(runtime, module, i, &function, &error));
    ASSERT_OK(astra_function_release(runtime, function, &error));
  }
  ASSERT_OK(astra_module_release(runtime, module, &error));
}

TEST_F(Inspect, SurvivesDamage) {
  for (const char *file : {TOY_MODULE, TOY_OBJECT}) {
    const std::string whole = readAll(file);
    unsigned described = 0;
    uint64_t state = 1;
    for (int i = 0; i < 150; ++i) {
      std::string bytes = whole;
      for (int k = 0; k < 1 + i % 3; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[size_t(state >> 33) % bytes.size()] = char(state >> 24);
      }
      if (i % 10 == 0)
        bytes.resize(size_t(state >> 33) % bytes.size());
      tryBytes(runtime, path, bytes, described);
    }
    EXPECT_GT(described, 10u);
  }
}

} // namespace
