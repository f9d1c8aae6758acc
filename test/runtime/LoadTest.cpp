// Loading modules by path: what is no complete module of this version is
// refused with one sentence, before any of its code runs.
#include "RuntimeTesting.h"
#include <cstdio>
#include <elf.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace astra::test;

namespace {

std::string readAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Load : public RuntimeTest {
protected:
  void TearDown() override {
    std::remove(path.c_str());
    RuntimeTest::TearDown();
  }
  astra_status_t load(const std::string &file, astra_error_t **error) {
    return astra_module_load(runtime, file.c_str(), &loaded, error);
  }
  astra_status_t loadBytes(const std::string &bytes, astra_error_t **error) {
    std::ofstream(path, std::ios::binary) << bytes;
    return load(path, error);
  }
  std::string path = "load-test-" + std::to_string(getpid()) + ".so";
  astra_module_t loaded{0};
};

TEST_F(Load, RunsAModule) {
  ASSERT_OK(load(TOY_MODULE, &error));
  astra_module_info_t info;
  ASTRA_INIT(MODULE_INFO, &info);
  ASSERT_OK(astra_module_info(runtime, loaded, &info, &error));
  EXPECT_STREQ(info.path, TOY_MODULE);
  astra_function_t add{0};
  ASSERT_OK(astra_module_function(runtime, loaded, "add", &add, &error));
  ASSERT_OK(astra_module_release(runtime, loaded, &error));
  astra_value_t in[] = {astra_value_of_tensor(floats({2}, {1, 2})),
                        astra_value_of_tensor(floats({2}, {3, 4}))};
  astra_tensor_t out{0};
  ASSERT_OK(astra_function_call(runtime, add, stream, nullptr, in, 2, &out, 1,
                                &error));
  EXPECT_EQ(read<float>(out, 2), (std::vector<float>{4, 6}));
  ASSERT_OK(astra_function_release(runtime, add, &error));
}

TEST_F(Load, FindsAFileInThePresentFolder) {
  ASSERT_OK(loadBytes(readAll(TOY_MODULE), &error));
}

TEST_F(Load, RefusesOtherVersionsBeforeTheirCodeRuns) {
  EXPECT_FAILS(
      ASTRA_ERROR_UNSUPPORTED_VERSION,
      "object ABI version 99, but this runtime (0.1.0) runs object ABI "
      "versions 1 to 3",
      load(TOY_FUTURE_MODULE, &error));
  EXPECT_FAILS(ASTRA_ERROR_UNSUPPORTED_VERSION, "arithmetic version 5",
               load(TOY_ARITHMETIC_MODULE, &error));
  EXPECT_EQ(loaded.bits, 0u);
}

TEST_F(Load, ListsMissingKernels) {
  EXPECT_FAILS(ASTRA_ERROR_MISSING_KERNEL,
               "fly_f32 version 1, add_f32 version 7 (this runtime has",
               load(TOY_KERNELS_MODULE, &error));
}

TEST_F(Load, RefusesWhatIsNoModule) {
  EXPECT_FAILS(ASTRA_ERROR_IO, "\"no/such/file.so\": No such file",
               load("no/such/file.so", &error));
  EXPECT_FAILS(ASTRA_ERROR_IO, "it is a directory", load("/", &error));
  EXPECT_FAILS(ASTRA_ERROR_IO, "not a regular file", load("/dev/zero", &error));
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "no ELF file",
               loadBytes("just a text", &error));
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "no ELF file", loadBytes("", &error));
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "no Astra note",
               load(TOY_NO_NOTE_MODULE, &error));
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "-shared", load(TOY_OBJECT, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "path",
               astra_module_load(runtime, nullptr, &loaded, &error));
}

TEST_F(Load, RefusesEveryTruncation) {
  std::string bytes = readAll(TOY_MODULE);
  ASSERT_GT(bytes.size(), 1000u);
  for (size_t size = 4; size < bytes.size(); size += 97) {
    astra_error_t *error = nullptr;
    ASSERT_EQ(loadBytes(bytes.substr(0, size), &error),
              ASTRA_ERROR_CORRUPT_FILE)
        << size;
    EXPECT_NE(takeMessage(error).find("is truncated"), std::string::npos);
  }
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "is truncated",
               loadBytes(bytes.substr(0, bytes.size() - 1), &error));
}

TEST_F(Load, RefusesOtherProcessorsAndDamagedTables) {
  const std::string good = readAll(TOY_MODULE);
  auto refused = [&](const char *text, auto damage) {
    std::string bytes = good;
    damage(*reinterpret_cast<Elf64_Ehdr *>(&bytes[0]));
    EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, text, loadBytes(bytes, &error));
  };
  refused("processor", [](Elf64_Ehdr &h) { h.e_machine = EM_RISCV; });
  refused("processor", [](Elf64_Ehdr &h) { h.e_ident[EI_CLASS] = 1; });
  refused("version", [](Elf64_Ehdr &h) { h.e_version = 7; });
  refused("truncated", [](Elf64_Ehdr &h) { h.e_phoff = UINT64_MAX - 8; });
  refused("truncated", [](Elf64_Ehdr &h) { h.e_shoff = UINT64_MAX - 8; });
  refused("unknown size", [](Elf64_Ehdr &h) { h.e_phentsize = 1; });
  refused("shared library", [](Elf64_Ehdr &h) { h.e_type = ET_EXEC; });
  auto segments = [](Elf64_Ehdr &h) {
    return reinterpret_cast<Elf64_Phdr *>(reinterpret_cast<char *>(&h) +
                                          h.e_phoff);
  };
  refused("truncated",
          [&](Elf64_Ehdr &h) { segments(h)[0].p_filesz = uint64_t(1) << 40; });
  refused("note", [&](Elf64_Ehdr &h) {
    for (int i = 0; i < h.e_phnum; ++i)
      if (segments(h)[i].p_type == PT_NOTE)
        segments(h)[i].p_filesz = 14;
  });
  refused("sections that share bytes", [](Elf64_Ehdr &h) {
    auto *sections = reinterpret_cast<Elf64_Shdr *>(
        reinterpret_cast<char *>(&h) + h.e_shoff);
    for (int i = 1; i < 3; ++i) {
      sections[i].sh_type = SHT_PROGBITS;
      sections[i].sh_offset = 0;
      sections[i].sh_size = h.e_shoff;
    }
  });
  refused("segments of the same bytes", [&](Elf64_Ehdr &h) {
    ASSERT_GE(h.e_phnum, 6);
    for (int i = 0; i < h.e_phnum; ++i) {
      segments(h)[i].p_type = PT_PHDR;
      segments(h)[i].p_offset = 0;
      segments(h)[i].p_filesz = h.e_shoff;
    }
  });
}

} // namespace
