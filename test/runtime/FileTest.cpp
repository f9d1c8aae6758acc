// Safetensors and npy files: bytes as the formats' own tools write them, round
// trips, and damaged files, each refused with what is wrong.
#include "RuntimeTesting.h"
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace astra::test;

namespace {

class Files : public RuntimeTest {
protected:
  void TearDown() override {
    std::remove(path.c_str());
    RuntimeTest::TearDown();
  }
  void write(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  std::string fileBytes() {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string path = "file-test-" + std::to_string(getpid());
};

template <class T> std::string bytesOf(std::vector<T> values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

class Safetensors : public Files {
protected:
  astra_status_t load(astra_error_t **error) {
    return astra_safetensors_load(runtime, path.c_str(), &archive, error);
  }
  astra_status_t loadBytes(const std::string &header, const std::string &data,
                           astra_error_t **error) {
    write(bytesOf<uint64_t>({header.size()}) + header + data);
    return load(error);
  }
  astra_tensor_t get(const char *name) {
    astra_tensor_t tensor{0};
    EXPECT_EQ(
        astra_archive_tensor(runtime, archive, name, cpu, &tensor, nullptr),
        ASTRA_OK);
    return tensor;
  }
  astra_archive_t archive{0};
};

TEST_F(Safetensors, AreReadAsTheFormatSays) {
  std::string header =
      " {\"__metadata__\": {\"by\": \"hand\"},\n \"b\\u00e9\\\"\": {\"shape\": "
      "[2, 2], \"data_offsets\": [4, 20], \"dtype\": \"F32\"}, \"a\": "
      "{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[0,4]}, \"none\": "
      "{\"dtype\":\"F64\",\"shape\":[0, 5],\"data_offsets\":[20,20]}}  ";
  ASSERT_OK(loadBytes(header,
                      bytesOf<int16_t>({-3, 9}) + bytesOf<float>({1, 2, 3, 4}),
                      &error));
  size_t count = 0;
  ASSERT_OK(astra_archive_count(runtime, archive, &count, &error));
  ASSERT_EQ(count, 3u);
  const char *name = nullptr;
  ASSERT_OK(astra_archive_name(runtime, archive, 1, &name, &error));
  EXPECT_STREQ(name, "b\xc3\xa9\"");
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "tensor 3",
               astra_archive_name(runtime, archive, 3, &name, &error));
  EXPECT_EQ(read<int16_t>(get("a"), 2), (std::vector<int16_t>{-3, 9}));
  astra_tensor_t b = get("b\xc3\xa9\""), missing{0};
  EXPECT_EQ(shapeOf(b), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(shapeOf(get("none")), (std::vector<int64_t>{0, 5}));
  EXPECT_FAILS(
      ASTRA_ERROR_NOT_FOUND, "\"c\"",
      astra_archive_tensor(runtime, archive, "c", cpu, &missing, &error));
  ASSERT_OK(astra_archive_release(runtime, archive, &error));
  EXPECT_EQ(read<float>(b, 4), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(Safetensors, AreWrittenAsTheFormatSays) {
  astra_tensor_t x = floats({2, 2}, {1, 2, 3, 4}), view{0};
  uint32_t order[] = {1, 0};
  ASSERT_OK(astra_tensor_transpose(runtime, x, order, &view, &error));
  astra_tensor_t tensors[] = {
      view, tensor<uint8_t>(ASTRA_BOOL, {}, {1}),
      tensor<uint32_t>(ASTRA_F32, {3}, {0xffc00001, 0x7f800000, 0x7f800001})};
  const char *names[] = {"w\n", "flag", "odd"};
  ASSERT_OK(
      astra_safetensors_save(runtime, path.c_str(), names, tensors, 3, &error));
  std::string bytes = fileBytes();
  std::string header =
      "{\"w\\u000a\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]"
      "},\"flag\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[16,17]},"
      "\"odd\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[17,29]}}";
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ((length + 8) % 64, 0u);
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  // Row-major order of the view; each NaN the canonical one.
  EXPECT_EQ(bytes.substr(8 + length),
            bytesOf<float>({1, 3, 2, 4}) + "\x01" +
                bytesOf<uint32_t>({0x7fc00000, 0x7f800000, 0x7fc00000}));
  ASSERT_OK(load(&error));
  EXPECT_EQ(read<float>(get("w\n"), 4), (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(read<uint32_t>(get("odd"), 3)[1], 0x7f800000u); // was not aligned
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0600, 0600u);
}

TEST_F(Safetensors, HoldEveryDtype) {
  struct Row {
    uint32_t dtype;
    size_t bytes;
  } rows[] = {{ASTRA_BOOL, 1}, {ASTRA_I8, 1},  {ASTRA_I16, 2},  {ASTRA_I32, 4},
              {ASTRA_I64, 8},  {ASTRA_U8, 1},  {ASTRA_U16, 2},  {ASTRA_U32, 4},
              {ASTRA_U64, 8},  {ASTRA_F16, 2}, {ASTRA_BF16, 2}, {ASTRA_F32, 4},
              {ASTRA_F64, 8}};
  for (const Row &row : rows) {
    std::vector<uint8_t> data(row.bytes * 3, 1);
    astra_tensor_t x = tensor<uint8_t>(row.dtype, {3}, data);
    const char *name = "x";
    ASSERT_OK(
        astra_safetensors_save(runtime, path.c_str(), &name, &x, 1, &error));
    ASSERT_OK(load(&error));
    uint32_t dtype = 0;
    astra_tensor_t y = get("x");
    ASSERT_OK(astra_tensor_dtype(runtime, y, &dtype, &error));
    EXPECT_EQ(dtype, row.dtype);
    EXPECT_EQ(read<uint8_t>(y, data.size()), data);
  }
}

TEST_F(Safetensors, RefuseBadNamesAndPlaces) {
  astra_tensor_t x[] = {floats({1}, {1}), floats({1}, {2})};
  const char *twice[] = {"x", "x"}, *reserved[] = {"__metadata__"};
  for (const char *bad :
       {"\xff", "\xc0\x80", "\xed\xa0\x80", "a\xe2\x82", "\xf4\x90\x80\x80"})
    EXPECT_FAILS(
        ASTRA_ERROR_INVALID_ARGUMENT, "name 0 of 1 is not UTF-8",
        astra_safetensors_save(runtime, path.c_str(), &bad, x, 1, &error));
  const char *good[] = {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"};
  ASSERT_OK(astra_safetensors_save(runtime, path.c_str(), good, x, 1, &error));
  EXPECT_EQ(unlink(path.c_str()), 0);
  EXPECT_FAILS(
      ASTRA_ERROR_INVALID_ARGUMENT, "\"x\" stands twice",
      astra_safetensors_save(runtime, path.c_str(), twice, x, 2, &error));
  EXPECT_FAILS(
      ASTRA_ERROR_INVALID_ARGUMENT, "reserved",
      astra_safetensors_save(runtime, path.c_str(), reserved, x, 1, &error));
  std::string endless(101u << 20, 'n');
  const char *tooLong[] = {endless.c_str()};
  EXPECT_FAILS(
      ASTRA_ERROR_INVALID_ARGUMENT, "longer than the 104857600",
      astra_safetensors_save(runtime, path.c_str(), tooLong, x, 1, &error));
  EXPECT_FAILS(
      ASTRA_ERROR_IO, "\"no/such/place\": No such file",
      astra_safetensors_save(runtime, "no/such/place", twice, x, 1, &error));
  EXPECT_FAILS(ASTRA_ERROR_IO, "it is a directory",
               astra_safetensors_save(runtime, "/", twice, x, 1, &error));
  EXPECT_FAILS(ASTRA_ERROR_IO, "No such file", load(&error));
  EXPECT_EQ(access(path.c_str(), F_OK), -1);
}

TEST_F(Safetensors, TakeThePlaceOfNothingButFiles) {
  astra_tensor_t x = floats({1}, {1});
  const char *name = "x";
  auto save = [&](astra_error_t **error) {
    return astra_safetensors_save(runtime, path.c_str(), &name, &x, 1, error);
  };
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FAILS(ASTRA_ERROR_IO, "it is not a regular file", save(&error));
  EXPECT_FAILS(ASTRA_ERROR_IO, "it is not a regular file",
               astra_npy_save(runtime, path.c_str(), x, &error));
  EXPECT_FAILS(ASTRA_ERROR_IO, "it is not a regular file",
               astra_trace_save(runtime, path.c_str(), &error));
  struct stat status = {};
  EXPECT_TRUE(stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode));
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_OK(save(&error));
  ASSERT_OK(save(&error));
}

TEST_F(Safetensors, ThatAreDamagedAreRefused) {
  const std::string data = bytesOf<float>({1, 2});
  auto refused = [&](const char *text, const std::string &header,
                     astra_status_t code = ASTRA_ERROR_CORRUPT_FILE) {
    EXPECT_FAILS(code, text, loadBytes(header, data, &error));
  };
  auto entry = [](const std::string &dtype, const std::string &shape,
                  const std::string &offsets) {
    return "{\"x\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}}";
  };
  ASSERT_OK(loadBytes(entry("F32", "[2]", "[0,8]"), data, &error));
  refused("byte 12 of the data", entry("F32", "[3]", "[0,12]"));
  refused("needs 12", entry("F32", "[3]", "[0,8]"));
  refused("needs 4", entry("F32", "[]", "[0,8]"));
  refused("the file has 8", entry("F32", "[1]", "[0,4]"));
  refused("begins at byte 4", entry("F32", "[1]", "[4,8]"));
  refused("two rising", entry("F32", "[2]", "[8,0]"));
  refused("two rising", entry("F32", "[2]", "[8]"));
  refused("63 bits", entry("F32", "[4611686018427387904,4]", "[0,8]"));
  refused("63 bits", entry("F32", "[99999999999999999999]", "[0,8]"));
  refused("whole number", entry("F32", "[-2]", "[0,8]"));
  std::string ones = "1";
  for (int i = 0; i < 98; ++i)
    ones += ",1";
  refused("rank 99", entry("F32", "[" + ones + "]", "[0,8]"));
  refused("F8_E4M3", entry("F8_E4M3", "[8]", "[0,8]"),
          ASTRA_ERROR_UNIMPLEMENTED);
  refused("neither 0 nor 1", entry("BOOL", "[8]", "[0,8]"));
  refused("stands twice", "{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_"
                          "offsets\":[0,4]},\"x\":{\"dtype\":\"F32\",\"shape\":"
                          "[1],\"data_offsets\":[4,8]}}");
  refused("begins at byte 0",
          "{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
          "\"y\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}");
  refused("lacks", "{\"x\":{\"dtype\":\"F32\",\"shape\":[2]}}");
  refused("no field", "{\"x\":{\"colour\":\"F32\"}}");
  refused("expected '{'", "[]");
  refused("expected", "{\"x\":");
  refused("follows", entry("F32", "[2]", "[0,8]") + "}");
  refused("not UTF-8", "{\"\xff\":1}");
  refused("a name that holds a NUL", "{\"a\\u0000b\":1}");
  refused("control character", "{\"x\n\":1}");
  refused("escape", "{\"\\q\":1}");
  refused("four hexadecimal", "{\"\\u12\":1}");
  refused("surrogate", "{\"\\ud800x\":1}");
  refused("the tensors end at byte 0", "{}");
}

TEST_F(Safetensors, TruncatedAnywhereAreRefused) {
  astra_tensor_t x[] = {floats({5}, {1, 2, 3, 4, 5}), floats({}, {6})};
  const char *names[] = {"x", "y"};
  ASSERT_OK(astra_safetensors_save(runtime, path.c_str(), names, x, 2, &error));
  std::string bytes = fileBytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    write(bytes.substr(0, size));
    ASSERT_EQ(load(nullptr), ASTRA_ERROR_CORRUPT_FILE) << size;
  }
  // Any byte of the header replaced: no crash, and never wrong bounds.
  for (size_t at = 0; at < 8 + 120; ++at) {
    std::string damaged = bytes;
    damaged[at] = char(damaged[at] ^ 0x15);
    write(damaged);
    if (load(nullptr) == ASTRA_OK)
      astra_archive_release(runtime, archive, nullptr);
  }
}

class Npy : public Files {
protected:
  astra_status_t load(astra_error_t **error) {
    return astra_npy_load(runtime, path.c_str(), cpu, &loaded, error);
  }
  astra_status_t loadBytes(const std::string &bytes, astra_error_t **error) {
    write(bytes);
    return load(error);
  }
  /// As NumPy writes it.
  static std::string start(const std::string &dictionary, char version = 1) {
    std::string text = dictionary;
    size_t before = version == 1 ? 10 : 12;
    text.resize((before + text.size() + 64) / 64 * 64 - before - 1, ' ');
    text += '\n';
    std::string length = version == 1
                             ? bytesOf<uint16_t>({uint16_t(text.size())})
                             : bytesOf<uint32_t>({uint32_t(text.size())});
    return std::string("\x93NUMPY") + version + '\0' + length + text;
  }
  astra_tensor_t loaded{0};
};

TEST_F(Npy, AreReadAsNumpyWritesThem) {
  std::string plain =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  std::string data = bytesOf<float>({0, 1, 2, 3, 4, 5});
  for (char version : {'\1', '\2', '\3'}) {
    ASSERT_OK(loadBytes(start(plain, version) + data, &error));
    EXPECT_EQ(shapeOf(loaded), (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(read<float>(loaded, 6), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  }
  ASSERT_OK(loadBytes(
      start("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }") +
          data,
      &error));
  EXPECT_EQ(read<float>(loaded, 6), (std::vector<float>{0, 2, 4, 1, 3, 5}));
  ASSERT_OK(loadBytes(
      start("{'descr': '|b1', 'fortran_order': False, 'shape': (), }") + "\x01",
      &error));
  EXPECT_EQ(read<uint8_t>(loaded, 1), std::vector<uint8_t>{1});
  ASSERT_OK(loadBytes(
      start("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }") +
          bytesOf<int64_t>({-7}),
      &error));
  EXPECT_EQ(read<int64_t>(loaded, 1), std::vector<int64_t>{-7});
}

TEST_F(Npy, AreWrittenAsNumpyWritesThem) {
  struct Row {
    std::vector<int64_t> shape;
    const char *text;
  } rows[] = {{{2, 3}, "(2, 3)"}, {{6}, "(6,)"}, {{}, "()"}};
  for (const Row &row : rows) {
    size_t count = row.shape.empty() ? 1 : 6;
    std::vector<float> values(count, 1.5f);
    astra_tensor_t x = floats(row.shape, values);
    ASSERT_OK(astra_npy_save(runtime, path.c_str(), x, &error));
    EXPECT_EQ(fileBytes(),
              start(std::string("{'descr': '<f4', 'fortran_order': False, "
                                "'shape': ") +
                    row.text + ", }") +
                  bytesOf<float>(values));
    ASSERT_OK(load(&error));
    EXPECT_EQ(read<float>(loaded, count), values);
  }
  EXPECT_FAILS(ASTRA_ERROR_UNIMPLEMENTED, "bf16",
               astra_npy_save(runtime, path.c_str(),
                              tensor<uint16_t>(ASTRA_BF16, {1}, {0}), &error));
}

TEST_F(Npy, ThatAreDamagedAreRefused) {
  std::string good =
      start("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }") +
      bytesOf<float>({1, 2});
  for (size_t size = 0; size < good.size(); ++size)
    ASSERT_EQ(loadBytes(good.substr(0, size), nullptr),
              ASTRA_ERROR_CORRUPT_FILE)
        << size;
  auto refused = [&](const char *text, const std::string &dictionary,
                     astra_status_t code = ASTRA_ERROR_CORRUPT_FILE) {
    EXPECT_FAILS(code, text,
                 loadBytes(start(dictionary) + bytesOf<float>({1, 2}), &error));
  };
  refused("needs 12",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}");
  refused("'>f4'", "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}",
          ASTRA_ERROR_UNIMPLEMENTED);
  refused("'<c8'", "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}",
          ASTRA_ERROR_UNIMPLEMENTED);
  refused("'|O'", "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
          ASTRA_ERROR_UNIMPLEMENTED);
  refused("rank 17",
          "{'descr': '<f4', 'fortran_order': False, 'shape': "
          "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
          ASTRA_ERROR_UNIMPLEMENTED);
  refused("extent", "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}");
  refused("tuple", "{'descr': '<f4', 'fortran_order': False, 'shape': 2}");
  refused("63 bits", "{'descr': '<f4', 'fortran_order': False, 'shape': "
                     "(99999999999999999999,)}");
  refused("new key", "{'descr': '<f4', 'descr': '<f4', 'shape': (2,)}");
  refused("True or False", "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}");
  refused("nothing else", "{'descr': '<f4', 'fortran_order': False}");
  refused("one of the keys", "{'colour': 'red'}");
  refused("a text", "{'descr': [('a', '<f4')]}");
  refused("dictionary", "[]");
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "no npy file",
               loadBytes("PK\3\4 something else", &error));
  good[6] = 9;
  EXPECT_FAILS(ASTRA_ERROR_UNSUPPORTED_VERSION, "npy version 9",
               loadBytes(good, &error));
}

} // namespace
